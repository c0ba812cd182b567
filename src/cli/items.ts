/** `items`: many items as lines, to make prompt files for trainers. */
import { Command, Option } from 'commander'
import { z } from 'zod'
import { jsonLine } from '../json-lines.ts'
import { itemsOfRun, itemsOfTasks } from './many-items.ts'
import { examples, repeated, whole } from './options.ts'
import { print, tell } from './output.ts'
import { FORMATS, type Format, rowOf } from './prompt-rows.ts'
import { addRecipeOptions, type RecipeOptions, recipeOf } from './recipe-options.ts'
import { addServerOptions, type Server, type ServerOptions, withServer } from './server.ts'

interface Options extends ServerOptions, RecipeOptions {
  task?: string[]
  category?: string
  run?: string
  count: number
  format: Format
}

const Tasks = z.object({ tasks: z.array(z.object({ name: z.string() })) })

export function items(): Command {
  return addRecipeOptions(addServerOptions(new Command('items')))
    .summary('Many items as JSON lines: prompt files for trainers')
    .description(
      'Print many items as JSON lines: prompt files for trainers. Answers stay on the server; the id finds them.',
    )
    .option('--count <number>', 'how many', whole(1), 10)
    .option('--task <name>', 'a task; may be repeated; none: all', repeated)
    .option('--category <name>', 'the tasks of a category')
    .addOption(
      new Option('--run <name>', 'the next items of a run, with its prompt, in place of tasks').conflicts([
        'task',
        'category',
        'difficulty',
        'config',
      ]),
    )
    .addOption(
      new Option(
        '--format <format>',
        'jsonl: prompt (as TRL reads it), item_id, task, …; verl: its columns; label: prompt and label (OpenRLHF, slime)',
      )
        .choices(FORMATS)
        .default('jsonl'),
    )
    .addHelpText(
      'after',
      examples(
        'reasoning-gym-server items --count 1000 > prompts.jsonl',
        'reasoning-gym-server items --count 500 --task gcd --task sudoku --difficulty 0.5 --format verl > train.jsonl',
        'reasoning-gym-server items --count 64 --run first',
      ),
    )
    .action((options: Options) =>
      withServer(options, { keeps: options.run !== undefined }, (server) => run(server, options)),
    )
}

async function run(server: Server, options: Options): Promise<void> {
  const { count, seed, format } = options
  const made =
    options.run === undefined
      ? itemsOfTasks(server, {
          tasks: await tasksOf(server, options),
          count,
          seed,
          recipe: recipeOf(options),
          onLost: tell,
        })
      : itemsOfRun(server, options.run, count)
  let index = 0
  for await (const item of made) await print(jsonLine(rowOf(item, format, index++)))
}

async function tasksOf(server: Server, { task, category }: Options): Promise<string[]> {
  if (task) return task
  const { tasks } = await server.call(
    Tasks,
    'GET',
    `/tasks${category === undefined ? '' : `?category=${encodeURIComponent(category)}`}`,
  )
  return tasks.map(({ name }) => name)
}
