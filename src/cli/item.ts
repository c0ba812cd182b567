/** `item`: one item, to look at. */
import { Command } from 'commander'
import { z } from 'zod'
import { addServerOptions, type ServerOptions, withServer } from './api-client.ts'
import { CliError } from './cli-error.ts'
import { formatExamples, integerParser } from './option-parsers.ts'
import { printJson, printLine, printStatus } from './output.ts'
import { addRecipeOptions, buildRecipeFields, type RecipeOptions } from './recipe-options.ts'

interface ItemOptions extends ServerOptions, RecipeOptions {
  index: number
  id?: string
  reveal?: true
  json?: true
}

const ItemResponse = z.looseObject({ id: z.string(), question: z.string(), answer: z.string().nullish() })
const ItemListResponse = z.object({ items: z.tuple([ItemResponse]) })

export function buildItemCommand(): Command {
  return addRecipeOptions(addServerOptions(new Command('item')))
    .summary('One item, to look at')
    .description('Show one item: by its recipe, or again by its id.')
    .argument('[task]', 'name of a task')
    .option('--index <number>', 'index of the item', integerParser(), 0)
    .option('--id <id>', 'the item of this id, in place of a recipe')
    .option('--reveal', 'its answer too (admin)')
    .option('--json', 'print what the server answers')
    .addHelpText(
      'after',
      formatExamples(
        'reasoning-gym-server item leg_counting --difficulty 0.8',
        'reasoning-gym-server item sudoku --seed 7 --reveal',
        'reasoning-gym-server item --id "$ID" --json',
      ),
    )
    .action(runItem)
}

async function runItem(task: string | undefined, options: ItemOptions): Promise<void> {
  if ((task === undefined) === (options.id === undefined))
    throw new CliError('Name a task, or an item with --id', { exitCode: 2 })
  await withServer(options, {}, async (server) => {
    const { seed, index, reveal } = options
    const recipe = { task, seed, index, ...buildRecipeFields(options) }
    const made =
      options.id === undefined ? await server.callWithRetry(ItemListResponse, 'POST', '/items', recipe) : undefined
    const id = options.id ?? made?.items[0].id ?? ''
    const shown =
      made && !reveal
        ? made.items[0]
        : await server.callWithRetry(ItemResponse, 'GET', `/items/${id}${reveal ? '?reveal=true' : ''}`)
    if (options.json) return printJson(shown)
    await printLine(shown.question)
    if (reveal) await printLine(`\nAnswer: ${shown.answer ?? '(any valid one)'}`)
    printStatus(`\nid: ${shown.id}`)
  })
}
