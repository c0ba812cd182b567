/**
 * What the completed groups of a run say about its tasks: sums, and the outcomes of the last groups. This process remembers what it
 * has read, and reads again only after another group was completed, and only what that has changed.
 */
import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import type { StatisticSums } from '../../grading/group-statistics.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { tryRead } from '../../platform/redis/unreadable-entries.ts'
import { type GroupOutcome, OUTCOME_WINDOW, unpackOutcome, unpackWindows } from './diagnosis/group-outcome.ts'
import { type AllRunKeys, createRunKeys } from './records.ts'
import { unpackSums } from './sums.ts'
import type { StoredRun } from './types.ts'

/** Runs whose sums are remembered, up to 200 KB each. */
const REMEMBERED_RUNS = 64
/** Outcomes that are remembered, about 400 bytes each. A run has 50 for each of its tasks. */
const REMEMBERED_OUTCOMES = 50_000

type Sums = Record<string, StatisticSums>

interface PackedSums {
  packed: Record<string, Buffer>
  sums: Sums
}

interface Windows {
  /** Number of outcomes of each task so far. */
  counts: Map<string, number>
  /** The last of them, oldest first. A list is never changed. */
  outcomes: Record<string, GroupOutcome[]>
}

/** A value read from Redis once `completed` groups of the run were completed, or later. */
interface Known<T> {
  completed: number | undefined
  value: T
}

export class TaskStatistics {
  readonly #redis: Redis
  readonly #keys: AllRunKeys
  readonly #sums = new LRUCache<string, Known<PackedSums>>({ max: REMEMBERED_RUNS })
  readonly #windows = new LRUCache<string, Known<Windows>>({
    maxSize: REMEMBERED_OUTCOMES,
    sizeCalculation: ({ value: { counts } }) => 1 + counts.size * OUTCOME_WINDOW,
  })

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = createRunKeys(keys)
  }

  /** Reads sums per task: `{ leg_counting: { groups: 3, score: 1.5, … } }`. Those of a task stay the same object until they change. */
  async readSums(run: StoredRun): Promise<Sums> {
    const key = this.#keys.forRun(run.name, run.epoch).taskSums
    const { sums } = await readIfCompleted(this.#sums, run, async (before) => {
      const packed = await this.#redis.hgetallBuffer(key)
      const unpack = ([task, value]: [string, Buffer]) => {
        const known = before?.packed[task]?.equals(value) ? before.sums[task] : undefined
        return [task, known ?? tryRead(this.#redis, { key, name: task }, () => unpackSums(value)) ?? {}] as const
      }
      return { packed, sums: Object.fromEntries(Object.entries(packed).map(unpack)) }
    })
    return sums
  }

  /** Reads the outcomes of the last groups of each task, oldest first. */
  async readRecentOutcomes(run: StoredRun): Promise<Record<string, GroupOutcome[]>> {
    const key = this.#keys.forRun(run.name, run.epoch).recentOutcomes
    const windows = await readIfCompleted(this.#windows, run, async (before) => {
      return (before && (await this.#readNewOutcomes(key, before))) ?? this.#readAllOutcomes(key)
    })
    return windows.outcomes
  }

  async #readAllOutcomes(key: string): Promise<Windows> {
    const fields = await this.#redis.hgetallBuffer(key)
    const counts = Object.entries(fields).filter(([field]) => !field.includes(':'))
    return {
      counts: new Map(counts.map(([task, count]) => [task, Number(count)])),
      outcomes: unpackWindows(fields),
    }
  }

  /** Returns undefined if there are outcomes of other tasks than before. */
  async #readNewOutcomes(key: string, before: Windows): Promise<Windows | undefined> {
    const tasks = [...before.counts.keys()]
    if (tasks.length === 0) return undefined
    const [size, texts] = await Promise.all([this.#redis.hlen(key), this.#redis.hmget(key, ...tasks)])
    const counts = new Map(tasks.map((task, k) => [task, Number(texts[k])]))
    const expectedSize = [...counts.values()].reduce((sum, count) => sum + 1 + Math.min(count, OUTCOME_WINDOW), 0)
    if (size !== expectedSize) return undefined
    const outcomes = { ...before.outcomes }
    const read = async ([task, count]: [string, number]) => {
      const places = listNewPlaces(before.counts.get(task) ?? 0, count)
      if (places.length === 0) return
      const records = await this.#redis.hmgetBuffer(key, ...places.map((place) => `${task}:${place}`))
      const added = records.flatMap((record) => (record && unpackOutcome(record)) ?? [])
      outcomes[task] = [...(outcomes[task] ?? []), ...added].slice(-OUTCOME_WINDOW)
    }
    await Promise.all([...counts].map(read))
    return { counts, outcomes }
  }
}

/** The places in the ring of a task's last outcomes that were written since, oldest first (scripts/complete-groups.lua). */
function listNewPlaces(before: number, now: number): number[] {
  const length = Math.min(now - before, OUTCOME_WINDOW)
  return Array.from({ length: Math.max(0, length) }, (_, k) => (now - length + 1 + k) % OUTCOME_WINDOW)
}

async function readIfCompleted<T extends object>(
  cache: LRUCache<string, Known<T>>,
  { incarnation, epoch, counters: { completed, rewinds = 0 } }: StoredRun,
  read: (before: T | undefined) => Promise<T>,
): Promise<T> {
  const key = `${incarnation}/${epoch}/${rewinds}` // after a rewind, the numbers of groups count others
  const known = cache.get(key)
  if (known?.completed === completed && known) return known.value
  const value = await read(known?.value)
  cache.set(key, { completed, value })
  return value
}
