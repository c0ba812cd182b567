/** `items`: many items as lines, to make prompt files for trainers. */
import { Command, Option } from 'commander'
import { z } from 'zod'
import { formatJsonLine } from '../codec/json-lines.ts'
import { type ApiClient, addServerOptions, type ServerOptions, withServer } from './api-client.ts'
import { streamRunItems, streamTaskItems } from './item-stream.ts'
import { appendValue, formatExamples, integerParser } from './option-parsers.ts'
import { print, printStatus } from './output.ts'
import { buildPromptRow, PROMPT_FORMATS, type PromptFormat } from './prompt-rows.ts'
import { addRecipeOptions, buildRecipeFields, type RecipeOptions } from './recipe-options.ts'

interface ItemsOptions extends ServerOptions, RecipeOptions {
  task?: string[]
  category?: string
  run?: string
  count: number
  format: PromptFormat
}

const TaskListResponse = z.object({ tasks: z.array(z.object({ name: z.string() })) })

export function buildItemsCommand(): Command {
  return addRecipeOptions(addServerOptions(new Command('items')))
    .summary('Many items as JSON lines: prompt files for trainers')
    .description(
      'Print many items as JSON lines: prompt files for trainers. Answers stay on the server; the id finds them.',
    )
    .option('--count <number>', 'how many', integerParser(1), 10)
    .option('--task <name>', 'a task; may be repeated; none: all', appendValue)
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
        .choices(PROMPT_FORMATS)
        .default('jsonl'),
    )
    .addHelpText(
      'after',
      formatExamples(
        'reasoning-gym-server items --count 1000 > prompts.jsonl',
        'reasoning-gym-server items --count 500 --task gcd --task sudoku --difficulty 0.5 --format verl > train.jsonl',
        'reasoning-gym-server items --count 64 --run first',
      ),
    )
    .action((options: ItemsOptions) =>
      withServer(options, { keeps: options.run !== undefined }, (server) => runItems(server, options)),
    )
}

async function runItems(server: ApiClient, options: ItemsOptions): Promise<void> {
  const { count, seed, format } = options
  const made =
    options.run === undefined
      ? streamTaskItems(server, {
          tasks: await resolveTaskNames(server, options),
          count,
          seed,
          recipe: buildRecipeFields(options),
          onItemSkipped: printStatus,
        })
      : streamRunItems(server, options.run, count)
  let index = 0
  for await (const item of made) await print(formatJsonLine(buildPromptRow(item, format, index++)))
}

async function resolveTaskNames(server: ApiClient, { task, category }: ItemsOptions): Promise<string[]> {
  if (task) return task
  const { tasks } = await server.call(
    TaskListResponse,
    'GET',
    `/tasks${category === undefined ? '' : `?category=${encodeURIComponent(category)}`}`,
  )
  return tasks.map(({ name }) => name)
}
