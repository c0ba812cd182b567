/** `item`: one item, to look at. */
import { Command } from 'commander'
import { z } from 'zod'
import { Failure } from './failure.ts'
import { examples, whole } from './options.ts'
import { printJson, printLine, tell } from './output.ts'
import { addRecipeOptions, type RecipeOptions, recipeOf } from './recipe-options.ts'
import { addServerOptions, type ServerOptions, withServer } from './server.ts'

interface Options extends ServerOptions, RecipeOptions {
  index: number
  id?: string
  reveal?: true
  json?: true
}

const Item = z.looseObject({ id: z.string(), question: z.string(), answer: z.string().nullish() })
const Items = z.object({ items: z.tuple([Item]) })

export function item(): Command {
  return addRecipeOptions(addServerOptions(new Command('item')))
    .summary('One item, to look at')
    .description('Show one item: by its recipe, or again by its id.')
    .argument('[task]', 'name of a task')
    .option('--index <number>', 'index of the item', whole(), 0)
    .option('--id <id>', 'the item of this id, in place of a recipe')
    .option('--reveal', 'its answer too (admin)')
    .option('--json', 'print what the server answers')
    .addHelpText(
      'after',
      examples(
        'reasoning-gym-server item leg_counting --difficulty 0.8',
        'reasoning-gym-server item sudoku --seed 7 --reveal',
        'reasoning-gym-server item --id "$ID" --json',
      ),
    )
    .action(run)
}

async function run(task: string | undefined, options: Options): Promise<void> {
  if ((task === undefined) === (options.id === undefined))
    throw new Failure('Name a task, or an item with --id', { exitCode: 2 })
  await withServer(options, {}, async (server) => {
    const { seed, index, reveal } = options
    const recipe = { task, seed, index, ...recipeOf(options) }
    const made = options.id === undefined ? await server.insist(Items, 'POST', '/items', recipe) : undefined
    const id = options.id ?? made?.items[0].id ?? ''
    const shown =
      made && !reveal ? made.items[0] : await server.insist(Item, 'GET', `/items/${id}${reveal ? '?reveal=true' : ''}`)
    if (options.json) return printJson(shown)
    await printLine(shown.question)
    if (reveal) await printLine(`\nAnswer: ${shown.answer ?? '(any valid one)'}`)
    tell(`\nid: ${shown.id}`)
  })
}
