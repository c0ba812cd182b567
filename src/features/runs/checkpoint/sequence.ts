/** Reads and writes a run's issued items and steps for its checkpoint. There may be millions of them. */
import type { ChainableCommander, Redis } from 'ioredis'
import type { RunKeys } from '../keys.ts'
import { formatSteps, parseSteps } from '../sequence/step-positions.ts'
import type { Checkpoint } from './document.ts'
import { describeIssuedItems, type IssuedItems, packIssuedItems } from './issued-items.ts'

/**
 * Number of hash fields that one command reads or writes. Less than a megabyte per command lets other calls run in
 * between.
 */
const FIELDS_PER_COMMAND = 256

/** Reads the issued items of the positions that `includes` accepts. */
export async function readIssuedItems(
  redis: Redis,
  { issuedTasks, issuedItems }: RunKeys,
  includes: (position: number) => boolean,
): Promise<IssuedItems> {
  const tasks = await redis.lrange(issuedTasks, 0, -1)
  const numbers = (await redis.hkeys(issuedItems)).map(Number).toSorted((a, b) => a - b)
  const chunks: [number, Buffer][] = []
  for (const part of splitFields(numbers)) {
    const buffers = await redis.hmgetBuffer(issuedItems, ...part.map(String))
    for (const [k, number] of part.entries()) chunks.push([number, buffers[k] ?? Buffer.alloc(0)])
  }
  return describeIssuedItems({ tasks, chunks }, includes)
}

/** Reads, in ascending order, the steps whose positions `includes` accepts without exception. */
export async function readSteps(
  redis: Redis,
  { stepPositions }: RunKeys,
  includes: (position: number) => boolean,
): Promise<Checkpoint['sequence']['steps']> {
  const chunks: (string | null)[] = []
  for (const part of splitFields(await redis.hkeys(stepPositions)))
    chunks.push(...(await redis.hmget(stepPositions, ...part)))
  return chunks
    .flatMap((chunk) => parseSteps(chunk ?? ''))
    .filter(({ positions }) => positions.every(([first]) => includes(first)))
    .toSorted((a, b) => a.step - b.step)
}

/** Writes the issued items and the leased ones, because an edited checkpoint may list a leased item only as leased. */
export function writeIssuedItems(
  pipeline: ChainableCommander,
  keys: RunKeys,
  { issued, leases, steps }: Checkpoint['sequence'],
): void {
  const { tasks, chunks } = packIssuedItems(issued, leases)
  if (tasks.length > 0) pipeline.rpush(keys.issuedTasks, ...tasks)
  for (const part of splitFields(chunks)) pipeline.hset(keys.issuedItems, new Map(part))
  for (const part of splitFields(Object.entries(formatSteps(steps)))) pipeline.hset(keys.stepPositions, new Map(part))
}

function splitFields<T>(list: T[]): T[][] {
  return Array.from({ length: Math.ceil(list.length / FIELDS_PER_COMMAND) }, (_, k) =>
    list.slice(k * FIELDS_PER_COMMAND, (k + 1) * FIELDS_PER_COMMAND),
  )
}
