/** `items`: prints many items as JSON Lines, for use as a trainer's prompt file. */
import { formatJsonLine } from '@reasoning-gym-server/codec/json-lines'
import { Item, UnmakeableItem } from '@reasoning-gym-server/contract/item'
import { TaskList } from '@reasoning-gym-server/contract/task'
import { type Command, Option } from 'commander'
import { z } from 'zod'
import type { ApiClient } from '../api-client.ts'
import { CliError } from '../cli-error.ts'
import { CliCommand } from '../command.ts'
import { writeHarborTask } from '../harbor-task.ts'
import { addRecipeOptions, appendValue, buildRecipeFields, integerParser, type RecipeOptions } from '../options.ts'
import { print, printLine, printNext, printStatus } from '../output.ts'
import { type Band, findRungsInBand, parseBand } from '../rungs-in-band.ts'
import type { ServerOptions, WithServer } from '../with-server.ts'

const FORMATS = ['jsonl', 'harbor'] as const

interface ItemsOptions extends ServerOptions, RecipeOptions {
  task?: string[]
  category?: string
  run?: string
  band?: Band
  count: number
  format: (typeof FORMATS)[number]
  out?: string
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
      .option(
        '--band <low-high>',
        'with --run: take no items from the run, but make new ones that its model solves with a probability in this band, by the estimate of complexity_mode frontier, with the default system prompt',
        parseBand,
      )
      .addOption(
        new Option(
          '--format <format>',
          'jsonl: a line with prompt, item_id, task, category and difficulty; harbor: a folder with a task of Harbor for each item, below --out. For the columns of other trainers, use GET /dataset.jsonl',
        )
          .choices(FORMATS)
          .default('jsonl'),
      )
      .option('--out <folder>', 'folder for the tasks of --format harbor')
      .examples([
        'reasoning-gym-server items --count 1000 > prompts.jsonl',
        'reasoning-gym-server items --count 500 --task gcd --task sudoku --difficulty 0.5 > train.jsonl',
        'reasoning-gym-server items --count 64 --run first',
        'reasoning-gym-server items --count 500 --run first --band 0.2-0.8 > solvable.jsonl',
        'reasoning-gym-server items --count 100 --task gcd --format harbor --out tasks',
      ])
      .action((options: ItemsOptions) =>
        withServer(options, { keeps: options.run !== undefined && options.band === undefined }, (server) =>
          runItems(server, options),
        ),
      ),
  ).addServerOptions()
}

async function runItems(server: ApiClient, options: ItemsOptions): Promise<void> {
  const { count, seed, out, run, band, format } = options
  if ((format === 'harbor') !== (out !== undefined))
    throw new CliError('--format harbor and --out belong together', { exitCode: 2 })
  if (band && run === undefined) throw new CliError('--band needs --run', { exitCode: 2 })
  const made =
    run === undefined || band
      ? streamTaskItems(server, {
          sources:
            run !== undefined && band
              ? await findRungsInBand(server, run, band)
              : await listTaskSources(server, options),
          count,
          seed,
          onItemSkipped: printStatus,
        })
      : streamRunItems(server, run, count)
  let index = 0
  for await (const item of made) {
    if (format === 'harbor') await printLine(await writeHarborTask(out ?? '', item, index++))
    else await print(formatJsonLine(buildPromptRow(item)))
  }
  if (!process.stdout.isTTY && process.stderr.isTTY)
    printNext(server, {
      ...(run !== undefined && { page: `/runs/${encodeURIComponent(run)}` }),
      next: 'reasoning-gym-server score rollouts.jsonl', // each line has an item_id and a completion
    })
}

async function listTaskSources(server: ApiClient, options: ItemsOptions): Promise<ItemSource[]> {
  const recipe = buildRecipeFields(options)
  return (await resolveTaskNames(server, options)).map((task) => ({ task, recipe }))
}

async function resolveTaskNames(server: ApiClient, { task, category }: ItemsOptions): Promise<string[]> {
  if (task) return task
  const { tasks } = await server.call(
    TaskList,
    'GET',
    `/tasks${category === undefined ? '' : `?category=${encodeURIComponent(category)}`}`,
  )
  return tasks.map(({ name }) => name)
}

/** A row never holds the reference answer: rewards come from the server. */
function buildPromptRow({ id, task, category, difficulty, messages }: Item): object {
  return { prompt: messages, item_id: id, task, category, difficulty }
}

const ItemList = z.object({ items: z.array(Item), failed: z.array(UnmakeableItem).optional() })

const REQUEST_CHUNK_SIZE = 32
/** Consecutive items that the library may fail to make before the command gives up. */
const MAX_CONSECUTIVE_FAILURES = 20

interface ItemSource {
  task: string
  /** Difficulty or config of every item. */
  recipe: object
}

interface TaskItemsParams {
  sources: ItemSource[]
  count: number
  seed: number
  /** Called with a message for each item that could not be made. The next seed takes its place. */
  onItemSkipped: (line: string) => void
}

/** Yields items of the sources in turn, each with its source's next seed. The same arguments yield the same items. */
export async function* streamTaskItems(
  server: ApiClient,
  { sources, count, seed, onItemSkipped }: TaskItemsParams,
): AsyncGenerator<Item> {
  if (sources.length === 0)
    throw new CliError('No task matches. Run "reasoning-gym-server tasks" to list tasks and categories', {
      exitCode: 2,
    })
  const lines = sources.map((source, k) => {
    const mine = Math.ceil((count - k) / sources.length)
    return streamSingleTask(server, { ...source, count: mine, seed, onItemSkipped })
  })
  for (let k = 0; k < count; k++) {
    const next = await lines[k % sources.length]?.next()
    if (next && !next.done) yield next.value
  }
}

type SingleTaskParams = ItemSource & Omit<TaskItemsParams, 'sources'>

/** Yields the items of one task. */
async function* streamSingleTask(
  server: ApiClient,
  { task, count, seed, recipe, onItemSkipped }: SingleTaskParams,
): AsyncGenerator<Item> {
  let next = seed
  for (let given = 0, lost = 0; given < count; ) {
    const seeds = Array.from({ length: Math.min(REQUEST_CHUNK_SIZE, count - given) }, () => next++)
    for (const item of await fetchItemChunk(server, { task, recipe, seeds })) {
      if (item.made) {
        given++
        lost = 0
        yield item.made
      } else {
        onItemSkipped(`Skipped ${task} with seed ${item.seed}: the library cannot make this item`)
        if (++lost >= MAX_CONSECUTIVE_FAILURES)
          throw new CliError(
            `The library could not make ${lost} items of ${task} in a row. Choose another --seed, --difficulty or --config`,
          )
      }
    }
  }
}

interface ItemChunkParams {
  task: string
  recipe: object
  seeds: number[]
}

/** The library has no item at a seed, or making it exceeded the time or memory limit. */
const CANNOT_BE_MADE_CODES = new Set(['make_failed', 'make_timeout', 'make_out_of_memory'])

/** Requests the items together; if that fails because of one of them, requests them one at a time. */
async function fetchItemChunk(
  server: ApiClient,
  { task, recipe, seeds }: ItemChunkParams,
): Promise<{ seed: number; made?: Item }[]> {
  try {
    const { items, failed = [] } = await server.callWithRetry(ItemList, 'POST', '/items', { task, ...recipe, seeds })
    const failedSeeds = new Set(failed.map(({ seed }) => seed))
    const made = items.values()
    return seeds.map((seed) => {
      const next = failedSeeds.has(seed) ? undefined : made.next().value
      return { seed, ...(next && { made: next }) }
    })
  } catch (error) {
    if (!(error instanceof CliError) || !CANNOT_BE_MADE_CODES.has(error.code ?? '')) throw error
    if (seeds.length === 1) return seeds.map((seed) => ({ seed }))
  }
  const each: { seed: number; made?: Item }[] = []
  for (const seed of seeds) each.push(...(await fetchItemChunk(server, { task, recipe, seeds: [seed] })))
  return each
}

/** Yields the next items of a run. The server hands out each item once. */
export async function* streamRunItems(server: ApiClient, run: string, count: number): AsyncGenerator<Item> {
  for (let given = 0; given < count; ) {
    const { items } = await server.callWithRetry(ItemList, 'POST', '/items', {
      run,
      count: Math.min(REQUEST_CHUNK_SIZE, count - given),
    })
    if (items.length === 0)
      throw new CliError(
        `Run ${run} has no more items for now: it is max_groups_ahead groups ahead of its trainer. Try again when the trainer has acknowledged a batch`,
      )
    given += items.length
    yield* items
  }
}
