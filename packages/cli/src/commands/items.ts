/** `items`: prints many items as JSON Lines, for use as a trainer's prompt file. */

import { formatJsonLine } from '@reasoning-gym-server/codec/json-lines'
import type { Item } from '@reasoning-gym-server/contract/item'
import { TaskList } from '@reasoning-gym-server/contract/task'
import { type Command, Option } from 'commander'
import type { ApiClient } from '../api-client.ts'
import { CliCommand } from '../command.ts'
import { streamRunItems, streamTaskItems } from '../item-stream.ts'
import { appendValue, integerParser } from '../option-parsers.ts'
import { print, printNext, printStatus } from '../output.ts'
import { addRecipeOptions, buildRecipeFields, type RecipeOptions } from '../shared-options.ts'
import { rejectCategory, type ServerOptions, type WithServer } from '../with-server.ts'

const PROMPT_FORMATS = ['jsonl', 'verl', 'label'] as const
type PromptFormat = (typeof PROMPT_FORMATS)[number]

interface ItemsOptions extends ServerOptions, RecipeOptions {
  task?: string[]
  category?: string
  run?: string
  count: number
  format: PromptFormat
}

export function buildItemsCommand(withServer: WithServer): Command {
  return addRecipeOptions(
    new CliCommand('items')
      .description(
        'Print items as JSON Lines, one per line, for use as a trainer’s prompt file. The reference answers stay on the server, which finds them by the item ID. The same options print the same items; with --run, each call prints the run’s next items.',
      )
      .option('--count <number>', 'number of items to print', integerParser(1), 10)
      .option(
        '--task <name>',
        'take items of this task; repeat the option for several tasks (default: all tasks)',
        appendValue,
      )
      .option('--category <name>', 'take items of all tasks in this category')
      .addOption(
        new Option(
          '--run <name>',
          'take the next items of this run, with its system prompt and difficulties',
        ).conflicts(['task', 'category', 'difficulty', 'config']),
      )
      .addOption(
        new Option(
          '--format <format>',
          'columns of a line. jsonl: prompt, item_id, task, category and difficulty (TRL); verl: the columns of verl; label: prompt, with the item ID as label (OpenRLHF, slime)',
        )
          .choices(PROMPT_FORMATS)
          .default('jsonl'),
      )
      .examples([
        'reasoning-gym-server items --count 1000 > prompts.jsonl',
        'reasoning-gym-server items --count 500 --task gcd --task sudoku --difficulty 0.5 --format verl > train.jsonl',
        'reasoning-gym-server items --count 64 --run first',
      ])
      .action((options: ItemsOptions) =>
        withServer(options, { keeps: options.run !== undefined }, (server) => runItems(server, options)),
      ),
  ).addServerOptions()
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
  if (!process.stdout.isTTY && process.stderr.isTTY)
    printNext(server, {
      ...(options.run !== undefined && { page: `/runs/${encodeURIComponent(options.run)}` }),
      next: 'reasoning-gym-server score rollouts.jsonl, with a line of item_id and completion for each rollout',
    })
}

async function resolveTaskNames(server: ApiClient, { task, category }: ItemsOptions): Promise<string[]> {
  if (task) return task
  const { tasks } = await server.call(
    TaskList,
    'GET',
    `/tasks${category === undefined ? '' : `?category=${encodeURIComponent(category)}`}`,
  )
  if (tasks.length === 0 && category !== undefined) await rejectCategory(server, category)
  return tasks.map(({ name }) => name)
}

/** Converts an item to a row of a trainer's prompt file. A row never holds the reference answer: rewards come from the server. */
function buildPromptRow(
  { id, task, category, difficulty, messages }: Item,
  format: PromptFormat,
  index: number,
): object {
  switch (format) {
    case 'jsonl':
      return { prompt: messages, item_id: id, task, category, difficulty }
    case 'verl':
      return {
        data_source: `reasoning_gym/${task}`,
        prompt: messages,
        ability: category,
        reward_model: { style: 'rule', ground_truth: id }, // verl passes this to the reward function
        extra_info: { index, item_id: id, task, difficulty },
      }
    case 'label':
      return { prompt: messages, label: id, task, difficulty }
  }
}
