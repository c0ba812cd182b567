/** Runs in Redis: settings, counters, and the positions that were handed out. */
import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { CurriculumPoint, SettingsChange } from '../../contract/run.ts'
import { scanKeys } from '../../platform/redis/cluster.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import { type AllRunKeys, createRunKeys } from './keys.ts'

const changeSettings = defineScript({
  folder: import.meta.dirname,
  name: 'update-run-settings',
  keys: [
    'run',
    'openPositions',
    'positionStates',
    'itemBodies',
    'leaseExpiries',
    'leasedItems',
    'steps',
    'stepItemsPrefix',
  ],
})

/** A run as it is stored. */
export interface StoredRun {
  name: string
  /** The name under which the run began: what its sequence of items is drawn from. */
  origin: string
  epoch: number
  revision: number
  /** Tells it from other runs that had or will have its name. */
  uuid: string
  /** When it came into being, ms. */
  created: number
  explicitSettings: SettingsChange
  counters: Record<string, number>
}

/** What waits in a run. */
export interface RunBacklog {
  /** Groups that are not scored yet; `forBuffer` of them will wait for a trainer. */
  queuedGroups: number
  queuedForBuffer: number
  bufferedGroups: number
  /** Groups in batches that are not acknowledged. */
  openBatchGroups: number
  /** Rollouts that will wait for a trainer once they are scored. */
  queuedRollouts: number
  /** Rollouts in the buffer, and those of them that are scored. */
  bufferedRollouts: number
  bufferedScoredRollouts: number
  /** Of the payload of all these. */
  bytes: number
}

/** Groups that `buffer_max_groups` counts: queued for the buffer, buffered, and in open batches. */
export function countBufferOccupancy({
  queuedForBuffer: forBuffer,
  bufferedGroups: buffered,
  openBatchGroups: open,
}: RunBacklog): number {
  return forBuffer + buffered + open
}

const NON_COUNTER_FIELDS = new Set(['settings', 'uuid', 'origin', 'epoch', 'revision', 'created'])

export class RunRepository {
  readonly #redis: Redis
  readonly #keys: AllRunKeys

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = createRunKeys(keys)
  }

  async get(name: string): Promise<StoredRun | undefined> {
    const fields = await this.#redis.hgetall(this.#keys.run(name))
    if (fields.revision === undefined) return undefined
    return {
      name,
      origin: fields.origin ?? name,
      epoch: Number(fields.epoch),
      revision: Number(fields.revision),
      uuid: fields.uuid ?? '',
      created: Number(fields.created),
      explicitSettings: JSON.parse(fields.settings ?? '{}') as SettingsChange, // written by change
      counters: this.parseCounters(fields),
    }
  }

  /** The numbers among the fields of a run. */
  parseCounters(fields: Record<string, string>): Record<string, number> {
    const numbers = Object.entries(fields).filter(([key]) => !NON_COUNTER_FIELDS.has(key))
    return Object.fromEntries(numbers.map(([key, value]) => [key, Number(value)]))
  }

  /**
   * False if somebody changed the run since `before` (undefined: since it was not there). `restart` begins the sequence
   * anew, `remake` makes the prepared items anew.
   */
  async updateSettings(
    name: string,
    before: StoredRun | undefined,
    named: SettingsChange,
    { restart, remake }: { restart: boolean; remake: boolean },
  ): Promise<boolean> {
    const epoch = before?.epoch ?? createEpoch()
    const keys = this.#keys.forRun(name, epoch)
    const done = Number(
      await changeSettings(this.#redis, { ...keys, stepItemsPrefix: keys.stepItems('') }, [
        before?.revision ?? 0,
        JSON.stringify(named),
        Date.now(),
        randomUUID(),
        restart ? '1' : '0',
        remake ? '1' : '0',
        name,
        epoch,
      ]),
    )
    if (done > 0 && !before) await this.register(name)
    return done > 0
  }

  /** Puts a run on the list of those there are. */
  async register(name: string): Promise<void> {
    await this.#redis.sadd(this.#keys.runs, name)
  }

  listNames(): Promise<string[]> {
    return this.#redis.smembers(this.#keys.runs)
  }

  /** Groups that wait: for a worker, for a trainer, for an acknowledgement; and the rollouts of those. */
  async readBacklog({ name, epoch }: StoredRun): Promise<RunBacklog> {
    const keys = this.#keys.forRun(name, epoch)
    const fields = ['open_groups', 'queued_groups', 'queued_rollouts', 'rollouts', 'scored_rollouts', 'bytes'] as const
    const [queued, buffered, stock] = await Promise.all([
      this.#redis.zcard(keys.pendingGroups),
      this.#redis.zcard(keys.buffer),
      this.#redis.hmget(keys.backlog, ...fields),
    ])
    const [open = 0, forBuffer = 0, queuedRollouts = 0, rollouts = 0, scored = 0, bytes = 0] = stock.map(Number)
    return {
      queuedGroups: queued,
      bufferedGroups: buffered,
      openBatchGroups: open,
      queuedForBuffer: forBuffer,
      queuedRollouts,
      bufferedRollouts: rollouts,
      bufferedScoredRollouts: scored,
      bytes,
    }
  }

  /** How many positions the run keeps open. */
  async setPrefetchTarget({ name }: StoredRun, ahead: number): Promise<void> {
    await this.#redis.hset(this.#keys.run(name), 'ahead', ahead)
  }

  /** Share of right rollouts in the last groups of each task. */
  async readRecentAccuracies({ name, epoch }: StoredRun): Promise<Record<string, number>> {
    const texts = await this.#redis.hgetall(this.#keys.forRun(name, epoch).recentAccuracies)
    const mean = (shares: number[]) => shares.reduce((sum, share) => sum + share, 0) / shares.length
    return Object.fromEntries(Object.entries(texts).map(([task, text]) => [task, mean(text.split(',').map(Number))]))
  }

  /** Where the curriculum stands, for each task that has fed it. */
  async readCurriculumLevels({
    name,
    epoch,
  }: StoredRun): Promise<Record<string, { difficulty: number; accuracy: number }>> {
    const states = await this.#redis.hgetall(this.#keys.forRun(name, epoch).curriculum)
    return Object.fromEntries(
      Object.entries(states).map(([task, text]) => {
        const { level, accuracy } = JSON.parse(text) as { level: string; accuracy: string } // written by complete-group
        return [task, { difficulty: Number(level), accuracy: Number(accuracy) }]
      }),
    )
  }

  /** What fed the curriculum, oldest first. */
  async readCurriculumHistory({ name, epoch }: StoredRun): Promise<CurriculumPoint[]> {
    const points = await this.#redis.lrange(this.#keys.forRun(name, epoch).curriculumHistory, 0, -1)
    return points.toReversed().map((text) => JSON.parse(text) as CurriculumPoint) // written by complete-group
  }

  /** Steps that have figures, in order. */
  async listMetricSteps({ name, epoch }: StoredRun, from: number, to: number): Promise<number[]> {
    return (await this.#redis.zrangebyscore(this.#keys.forRun(name, epoch).metricSteps, from, to)).map(Number)
  }

  async readMetricSums({ name, epoch }: StoredRun, step: number): Promise<Record<string, number>> {
    const sums = await this.#redis.hgetall(this.#keys.forRun(name, epoch).metricSums(step))
    return Object.fromEntries(Object.entries(sums).map(([field, sum]) => [field, Number(sum)]))
  }

  /** Forgets a run and whatever it holds. */
  async delete(name: string): Promise<void> {
    await this.#redis.srem(this.#keys.runs, name)
    await this.#redis.unlink(this.#keys.run(name)) // no script touches what has no run
    await this.#deleteMatching(this.#keys.runKeyPattern(name))
  }

  /** Forgets what a run holds in one of its epochs. */
  async deleteEpoch(name: string, epoch: number): Promise<void> {
    await this.#deleteMatching(this.#keys.epochKeyPattern(name, epoch))
  }

  async #deleteMatching(keyPattern: string): Promise<void> {
    const pattern = keyPattern.replace(/[[\]*?\\]/g, (mark) => (mark === '*' ? mark : `\\${mark}`))
    for await (const { node, keys } of scanKeys(this.#redis, pattern)) await node.unlink(...keys)
  }

  /** Sums per task: `{ leg_counting: { groups: 3, score: 1.5, … } }`. */
  async readTaskSums({ name, epoch }: StoredRun): Promise<Record<string, Record<string, number>>> {
    const sums: Record<string, Record<string, number>> = {}
    for (const [field, value] of Object.entries(await this.#redis.hgetall(this.#keys.forRun(name, epoch).taskSums))) {
      const at = field.indexOf(':')
      const task = field.slice(0, at)
      sums[task] = { ...sums[task], [field.slice(at + 1)]: Number(value) }
    }
    return sums
  }
}

/** Of a new run. Counted from the time, so that it shares nothing with one of the same name that was deleted. */
export function createEpoch(): number {
  return Date.now()
}
