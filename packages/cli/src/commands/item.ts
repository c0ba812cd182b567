/** `item`: shows one item. */

import { Item } from '@reasoning-gym-server/contract/item'
import type { Command } from 'commander'
import { z } from 'zod'
import { CliError } from '../cli-error.ts'
import { CliCommand } from '../command.ts'
import { addRecipeOptions, buildRecipeFields, integerParser, type RecipeOptions } from '../options.ts'
import { heading, printJson, printLine, printNext, printStatus } from '../output.ts'
import type { ServerOptions, WithServer } from '../with-server.ts'

interface ItemOptions extends ServerOptions, RecipeOptions {
  index: number
  id?: string
  reveal?: true
  json?: true
}

const RevealedItem = Item.extend({ answer: z.string().nullish() })
const ItemList = z.object({ items: z.tuple([RevealedItem]) })

export function buildItemCommand(withServer: WithServer): Command {
  return addRecipeOptions(
    new CliCommand('item')
      .description(
        'Make one item from a recipe (task, seed, index, and a difficulty or config) and print its question and ID, or print the item that has a given ID.',
      )
      .argument('[task]', 'name of the task; omit it if you set --id')
      .option('--index <number>', 'index of the item in the sequence that the seed starts', integerParser(), 0)
      .option('--id <id>', 'ID of an existing item, in place of a recipe')
      .option('--reveal', 'also print the reference answer (requires a key with the admin role if the server has keys)')
      .option('--json', 'print the server’s JSON response')
      .examples([
        'reasoning-gym-server item leg_counting --difficulty 0.8',
        'reasoning-gym-server item sudoku --seed 7 --reveal',
        'reasoning-gym-server item --id "$ID" --json',
      ])
      .action((task: string | undefined, options: ItemOptions) => runItem(withServer, task, options)),
  ).addServerOptions()
}

async function runItem(withServer: WithServer, task: string | undefined, options: ItemOptions): Promise<void> {
  if ((task === undefined) === (options.id === undefined))
    throw new CliError('Name a task, or set --id to the ID of an item, but not both', { exitCode: 2 })
  await withServer(options, {}, async (server) => {
    const { seed, index, reveal } = options
    const recipe = { task, seed, index, ...buildRecipeFields(options) }
    const made = options.id === undefined ? await server.callWithRetry(ItemList, 'POST', '/items', recipe) : undefined
    const id = options.id ?? made?.items[0].id ?? ''
    const shown =
      made && !reveal
        ? made.items[0]
        : await server.callWithRetry(RevealedItem, 'GET', `/items/${id}${reveal ? '?reveal=true' : ''}`)
    if (options.json) return printJson(shown)
    await printLine(shown.question)
    if (reveal) {
      const answer = shown.answer ?? '(any valid answer is accepted)'
      await printLine(`\n${heading('Answer:')}${answer.includes('\n') ? '\n' : ' '}${answer}`)
    }
    printStatus(`\nID: ${shown.id}`)
    printNext(server, { next: `reasoning-gym-server score --id ${shown.id} --answer "…"` })
  })
}
