/** Streams of items, requested in chunks. */

import { Item, UnmakeableItem } from '@reasoning-gym-server/contract/item'
import { z } from 'zod'
import type { ApiClient } from './api-client.ts'
import { CliError } from './cli-error.ts'

const ItemList = z.object({ items: z.array(Item), failed: z.array(UnmakeableItem).optional() })

const REQUEST_CHUNK_SIZE = 32
/** Consecutive items that the library may fail to make before the command gives up. */
const MAX_CONSECUTIVE_FAILURES = 20

interface TaskItemsParams {
  tasks: string[]
  count: number
  seed: number
  /** Difficulty or config of every item. */
  recipe: object
  /** Called with a message for each item that could not be made. The next seed takes its place. */
  onItemSkipped: (line: string) => void
}

/** Yields items of the tasks in turn, each with its task's next seed. The same arguments yield the same items. */
export async function* streamTaskItems(
  server: ApiClient,
  { tasks, count, seed, recipe, onItemSkipped }: TaskItemsParams,
): AsyncGenerator<Item> {
  if (tasks.length === 0)
    throw new CliError('No task matches. Run "reasoning-gym-server tasks" to list tasks and categories', {
      exitCode: 2,
    })
  const lines = tasks.map((task, k) => {
    const mine = Math.ceil((count - k) / tasks.length)
    return streamSingleTask(server, { task, count: mine, seed, recipe, onItemSkipped })
  })
  for (let k = 0; k < count; k++) {
    const next = await lines[k % tasks.length]?.next()
    if (next && !next.done) yield next.value
  }
}

interface SingleTaskParams extends Omit<TaskItemsParams, 'tasks'> {
  task: string
}

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
