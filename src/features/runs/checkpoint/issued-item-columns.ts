/**
 * The issued items and the steps of a run in its checkpoint. There may be millions of them, so a checkpoint has them as
 * columns of numbers, a few bytes per item.
 */

import { Difficulty, TaskName } from '@reasoning-gym-server/contract/recipe'
import type { ChainableCommander, Redis } from 'ioredis'
import { z } from 'zod'
import { splitList } from '../../../platform/split-list.ts'
import type { RunKeys } from '../records.ts'
import {
  decodeChunk,
  encodeChunk,
  formatVariant,
  type IssuedRecord,
  POSITIONS_PER_CHUNK,
  parseVariant,
} from '../sequence/issued-items.ts'
import type { MadeItem } from '../sequence/position-state.ts'
import { formatSteps, parseSteps, type StepPositions } from '../sequence/requested.ts'
import { SEEDS_PER_POSITION } from '../sequence/sequence.ts'

/**
 * Limit of positions, far above what any run reaches. Above 2^53, a counter in a Redis script would stop increasing.
 */
export const MAX_POSITION = 2 ** 48
export const Position = z.int().min(0).max(MAX_POSITION)
/** Number of tasks that two bytes can distinguish. */
const MAX_TASKS = 65_536
/** Limit of chunks, enough for more than 30 million positions. */
export const MAX_CHUNKS = 131_072

/** Marks a position without an issued item, in place of a task number. */
export const NOT_ISSUED = -1
const NO_ITEM = -2

/** Items of consecutive positions, in columns. */
const IssuedChunk = z.strictObject({
  /** Position of the first entry of each column. */
  first: Position,
  /** Index into `tasks` of each position; −1 if the item is not issued, −2 if the position has no item. */
  tasks: z.array(z.int().min(NO_ITEM)).max(POSITIONS_PER_CHUNK),
  /** Index into `difficulties` of each position. */
  difficulties: z.array(z.int().min(0)).max(POSITIONS_PER_CHUNK),
  /** Index into `propensities` of each position; absent if none is known. */
  propensities: z.array(z.int().min(0)).max(POSITIONS_PER_CHUNK).optional(),
  /** Number of the seed of each item; absent if all items have the first seed. */
  retries: z
    .array(
      z
        .int()
        .min(0)
        .max(SEEDS_PER_POSITION - 1),
    )
    .max(POSITIONS_PER_CHUNK)
    .optional(),
})

const Variant = z.string().refine((text) => {
  try {
    const { task, config } = parseVariant(text)
    return TaskName.safeParse(task).success && formatVariant({ task, config }) === text
  } catch {
    return false
  }
}, 'must be a task, or a task followed by the canonical JSON of its config')

export const Propensity = z.number().min(0).max(1)

export const IssuedItems = z.strictObject({
  tasks: z.array(Variant).max(MAX_TASKS),
  difficulties: z.array(Difficulty.nullable()),
  /** Absent if none is known; 0 for an item whose propensity is unknown. */
  propensities: z.array(Propensity).optional(),
  chunks: z.array(IssuedChunk).max(MAX_CHUNKS),
})
export type IssuedItems = z.infer<typeof IssuedItems>

/** Describes the issued items of the positions that `includes` accepts, from chunks that are added in ascending order. */
class IssuedItemsDescription {
  readonly #tasks: string[]
  readonly #includes: (position: number) => boolean
  readonly #taskPlaces = new Places<string>()
  readonly #difficultyPlaces = new Places<number | null>()
  readonly #propensityPlaces = new Places<number>()
  readonly #columns: IssuedItems['chunks'] = []

  constructor(tasks: string[], includes: (position: number) => boolean) {
    this.#tasks = tasks
    this.#includes = includes
  }

  add(chunk: number, buffer: Buffer): void {
    const start = chunk * POSITIONS_PER_CHUNK
    const records = decodeChunk(buffer).map((record, k) => (this.#includes(start + k) ? record : undefined))
    const from = records.findIndex(Boolean)
    if (from < 0) return
    const kept = records.slice(from, records.findLastIndex(Boolean) + 1)
    const retries = kept.map((record) => (record?.kind === 'item' ? record.retry : 0))
    const propensities = kept.map((record) => (record?.kind === 'item' && record.propensity) || 0)
    this.#columns.push({
      first: start + from,
      tasks: kept.map((record) => {
        if (!record) return NOT_ISSUED
        return record.kind === 'item' ? this.#taskPlaces.of(this.#tasks[record.variant] ?? '') : NO_ITEM
      }),
      difficulties: kept.map((record) => (record?.kind === 'item' ? this.#difficultyPlaces.of(record.difficulty) : 0)),
      ...(propensities.some(Boolean) && {
        propensities: propensities.map((value) => this.#propensityPlaces.of(value)),
      }),
      ...(retries.some(Boolean) && { retries }),
    })
  }

  finish(): IssuedItems {
    const propensities = this.#propensityPlaces.values
    return {
      tasks: this.#taskPlaces.values,
      difficulties: this.#difficultyPlaces.values,
      ...(propensities.length > 0 && { propensities }),
      chunks: this.#columns,
    }
  }
}

interface LeasedItem extends MadeItem {
  position: number
}

/**
 * Yields issued items in the format of Redis, the records of one chunk of positions at a time, with those of `more` that the
 * document lacks. Numbers the tasks of these, too.
 */
function* packIssuedItems(
  { difficulties, propensities = [], chunks }: IssuedItems,
  more: LeasedItem[],
  numbers: Places<string>,
): Generator<[chunk: number, records: Buffer]> {
  const columnsOf = new Map<number, IssuedItems['chunks']>()
  for (const column of chunks)
    for (let chunk = chunkOf(column.first); chunk <= chunkOf(column.first + column.tasks.length - 1); chunk++) {
      const columns = columnsOf.get(chunk) ?? []
      columns.push(column)
      columnsOf.set(chunk, columns)
    }
  const moreOf = Map.groupBy(more, ({ position }) => chunkOf(position))
  for (const chunk of new Set([...columnsOf.keys(), ...moreOf.keys()])) {
    const list: IssuedRecord[] = []
    const put = (position: number, record: IssuedRecord) => {
      list[position % POSITIONS_PER_CHUNK] ??= record
    }
    for (const { first, tasks, ...columns } of columnsOf.get(chunk) ?? []) {
      const start = chunk * POSITIONS_PER_CHUNK - first
      for (let k = Math.max(0, start); k < Math.min(tasks.length, start + POSITIONS_PER_CHUNK); k++) {
        const variant = tasks[k] ?? NOT_ISSUED
        if (variant === NOT_ISSUED || list[(first + k) % POSITIONS_PER_CHUNK]) continue
        const difficulty = difficulties[columns.difficulties[k] ?? 0] ?? null
        const propensity = columns.propensities && propensities[columns.propensities[k] ?? 0]
        const item = { kind: 'item' as const, variant, difficulty, retry: columns.retries?.[k] ?? 0, propensity }
        put(first + k, variant === NO_ITEM ? { kind: 'no_item' } : item)
      }
    }
    for (const { position, difficulty, retry = 0, propensity, ...variant } of moreOf.get(chunk) ?? [])
      put(position, { kind: 'item', variant: numbers.of(formatVariant(variant)), difficulty, retry, propensity })
    if (list.length > 0) yield [chunk, encodeChunk(list)]
  }
}

function chunkOf(position: number): number {
  return Math.floor(position / POSITIONS_PER_CHUNK)
}

export function endOfIssuedItems({ chunks }: IssuedItems): number {
  return chunks.reduce((end, { first, tasks }) => Math.max(end, first + tasks.length), 0)
}

/** Yields the path and the reason of each number that no server can have written, and undefined where others may have a turn. */
export function* listIssuedItemFaults({
  tasks,
  difficulties,
  propensities = [],
  chunks,
}: IssuedItems): Generator<[string, string] | undefined> {
  for (const [k, column] of chunks.entries()) {
    if (k % CHUNKS_PER_READ === 0) yield undefined
    for (const name of ['difficulties', 'propensities', 'retries'] as const)
      if (column[name] && column[name].length !== column.tasks.length)
        yield [`chunks.${k}.${name}`, `must have ${column.tasks.length} numbers, as \`tasks\` has`]
    for (const [n, task] of column.tasks.entries())
      if (task >= tasks.length) yield [`chunks.${k}.tasks.${n}`, `there are ${tasks.length} tasks`]
    for (const [n, difficulty] of column.difficulties.entries())
      if (difficulty >= difficulties.length && (column.tasks[n] ?? 0) >= 0)
        yield [`chunks.${k}.difficulties.${n}`, `there are ${difficulties.length} difficulties`]
    for (const [n, propensity] of (column.propensities ?? []).entries())
      if (propensity >= propensities.length)
        yield [`chunks.${k}.propensities.${n}`, `there are ${propensities.length} propensities`]
  }
}

/** Distinct values in order of first appearance. */
class Places<T> {
  readonly values: T[]
  readonly #places: Map<T, number>

  constructor(values: T[] = []) {
    this.values = [...values]
    this.#places = new Map(values.map((value, k) => [value, k]))
  }

  of(value: T): number {
    const place = this.#places.get(value) ?? this.values.length
    if (place === this.values.length) {
      this.values.push(value)
      this.#places.set(value, place)
    }
    return place
  }
}

/**
 * Number of hash fields that one command reads or writes. Less than a megabyte per command lets other calls run in
 * between.
 */
const FIELDS_PER_COMMAND = 256
/** Number of chunks that are read, unpacked or checked at a time. */
const CHUNKS_PER_READ = 64

/** Reads the issued items of the positions that `includes` accepts. */
export async function readIssuedItems(
  redis: Redis,
  { issuedTasks, issuedItems }: RunKeys,
  includes: (position: number) => boolean,
): Promise<IssuedItems> {
  const tasks = await redis.lrange(issuedTasks, 0, -1)
  const numbers = (await redis.hkeys(issuedItems)).map(Number).toSorted((a, b) => a - b)
  const description = new IssuedItemsDescription(tasks, includes)
  for (const part of splitList(numbers, CHUNKS_PER_READ)) {
    const buffers = await redis.hmgetBuffer(issuedItems, ...part.map(String))
    for (const [k, number] of part.entries()) description.add(number, buffers[k] ?? Buffer.alloc(0))
  }
  return description.finish()
}

/** Reads, in ascending order, the steps whose positions `includes` accepts without exception. */
export async function readSteps(
  redis: Redis,
  { stepPositions }: RunKeys,
  includes: (position: number) => boolean,
): Promise<StepPositions[]> {
  const chunks: (string | null)[] = []
  for (const part of splitList(await redis.hkeys(stepPositions), FIELDS_PER_COMMAND))
    chunks.push(...(await redis.hmget(stepPositions, ...part)))
  return chunks
    .flatMap((chunk) => parseSteps(chunk ?? ''))
    .filter(({ positions }) => positions.every(([first]) => includes(first)))
    .toSorted((a, b) => a.step - b.step)
}

/** Yields the commands, and how many entries each writes, of the issued items and the leased ones, because an edited checkpoint may list a leased item only as leased. */
export function* listIssuedItemWrites(
  keys: RunKeys,
  { issued, leases, steps }: { issued: IssuedItems; leases: LeasedItem[]; steps: StepPositions[] },
): Generator<[entries: number, write: (pipeline: ChainableCommander) => void]> {
  const numbers = new Places(issued.tasks)
  for (const [chunk, records] of packIssuedItems(issued, leases, numbers))
    yield [Math.ceil(records.byteLength / 1024), (pipeline) => pipeline.hset(keys.issuedItems, String(chunk), records)]
  for (const part of splitList(numbers.values, FIELDS_PER_COMMAND))
    yield [part.length, (pipeline) => pipeline.rpush(keys.issuedTasks, ...part)]
  const stepFields = Object.entries(formatSteps(steps))
  for (const part of splitList(stepFields, FIELDS_PER_COMMAND))
    yield [part.length, (pipeline) => pipeline.hset(keys.stepPositions, new Map(part))]
}
