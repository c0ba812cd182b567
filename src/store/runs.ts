/** Runs in Redis: settings, counters, and the positions that were handed out. */
import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { CurriculumPoint, SettingsChange } from '../words/run.ts'
import type { Keys } from './keys.ts'
import { keysLike } from './nodes.ts'
import { loadScript } from './script.ts'

const changeSettings = loadScript('change-settings-8')

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
  named: SettingsChange
  counters: Record<string, number>
}

/** What waits in a run. */
export interface Waiting {
  /** Groups that are not scored yet; `forBuffer` of them will wait for a trainer. */
  queued: number
  forBuffer: number
  buffered: number
  /** Groups in batches that are not acknowledged. */
  open: number
  /** Rollouts that will wait for a trainer once they are scored. */
  queuedRollouts: number
  /** Rollouts in the buffer, and those of them that are scored. */
  rollouts: number
  scored: number
  /** Of the payload of all these. */
  bytes: number
}

/** Groups that `buffer_max_groups` counts: queued for the buffer, buffered, and in open batches. */
export function heldGroups({ forBuffer, buffered, open }: Waiting): number {
  return forBuffer + buffered + open
}

const TEXTS = new Set(['settings', 'uuid', 'origin', 'epoch', 'revision', 'created'])

export class Runs {
  readonly #redis: Redis
  readonly #keys: Keys

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis
    this.#keys = keys
  }

  async find(name: string): Promise<StoredRun | undefined> {
    const fields = await this.#redis.hgetall(this.#keys.run(name))
    if (fields.revision === undefined) return undefined
    return {
      name,
      origin: fields.origin ?? name,
      epoch: Number(fields.epoch),
      revision: Number(fields.revision),
      uuid: fields.uuid ?? '',
      created: Number(fields.created),
      named: JSON.parse(fields.settings ?? '{}') as SettingsChange, // written by change
      counters: this.countersOf(fields),
    }
  }

  /** The numbers among the fields of a run. */
  countersOf(fields: Record<string, string>): Record<string, number> {
    const numbers = Object.entries(fields).filter(([key]) => !TEXTS.has(key))
    return Object.fromEntries(numbers.map(([key, value]) => [key, Number(value)]))
  }

  /**
   * False if somebody changed the run since `before` (undefined: since it was not there). `restart` begins the sequence
   * anew, `remake` makes the prepared items anew.
   */
  async change(
    name: string,
    before: StoredRun | undefined,
    named: SettingsChange,
    { restart, remake }: { restart: boolean; remake: boolean },
  ): Promise<boolean> {
    const epoch = before?.epoch ?? firstEpoch()
    const keys = this.#keys.ofRun(name, epoch)
    const done = Number(
      await changeSettings(
        this.#redis,
        [keys.run, keys.open, keys.heads, keys.bodies, keys.leases, keys.leased, keys.steps, keys.step('')],
        [
          before?.revision ?? 0,
          JSON.stringify(named),
          Date.now(),
          randomUUID(),
          restart ? '1' : '0',
          remake ? '1' : '0',
          name,
          epoch,
        ],
      ),
    )
    if (done > 0 && !before) await this.enlist(name)
    return done > 0
  }

  /** Puts a run on the list of those there are. */
  async enlist(name: string): Promise<void> {
    await this.#redis.sadd(this.#keys.runs, name)
  }

  names(): Promise<string[]> {
    return this.#redis.smembers(this.#keys.runs)
  }

  /** Groups that wait: for a worker, for a trainer, for an acknowledgement; and the rollouts of those. */
  async waiting({ name, epoch }: StoredRun): Promise<Waiting> {
    const keys = this.#keys.ofRun(name, epoch)
    const fields = ['open_groups', 'queued_groups', 'queued_rollouts', 'rollouts', 'scored_rollouts', 'bytes'] as const
    const [queued, buffered, stock] = await Promise.all([
      this.#redis.zcard(keys.pending),
      this.#redis.zcard(keys.buffer),
      this.#redis.hmget(keys.stock, ...fields),
    ])
    const [open = 0, forBuffer = 0, queuedRollouts = 0, rollouts = 0, scored = 0, bytes = 0] = stock.map(Number)
    return { queued, buffered, open, forBuffer, queuedRollouts, rollouts, scored, bytes }
  }

  /** How many positions the run keeps open. */
  async setAhead({ name }: StoredRun, ahead: number): Promise<void> {
    await this.#redis.hset(this.#keys.run(name), 'ahead', ahead)
  }

  /** Share of right rollouts in the last groups of each task. */
  async accuracies({ name, epoch }: StoredRun): Promise<Record<string, number>> {
    const texts = await this.#redis.hgetall(this.#keys.ofRun(name, epoch).outcomes)
    const mean = (shares: number[]) => shares.reduce((sum, share) => sum + share, 0) / shares.length
    return Object.fromEntries(Object.entries(texts).map(([task, text]) => [task, mean(text.split(',').map(Number))]))
  }

  /** Where the curriculum stands, for each task that has fed it. */
  async levels({ name, epoch }: StoredRun): Promise<Record<string, { difficulty: number; accuracy: number }>> {
    const states = await this.#redis.hgetall(this.#keys.ofRun(name, epoch).curriculum)
    return Object.fromEntries(
      Object.entries(states).map(([task, text]) => {
        const { level, accuracy } = JSON.parse(text) as { level: string; accuracy: string } // written by complete-group
        return [task, { difficulty: Number(level), accuracy: Number(accuracy) }]
      }),
    )
  }

  /** What fed the curriculum, oldest first. */
  async history({ name, epoch }: StoredRun): Promise<CurriculumPoint[]> {
    const points = await this.#redis.lrange(this.#keys.ofRun(name, epoch).history, 0, -1)
    return points.toReversed().map((text) => JSON.parse(text) as CurriculumPoint) // written by complete-group
  }

  /** Steps that have figures, in order. */
  async metricSteps({ name, epoch }: StoredRun, from: number, to: number): Promise<number[]> {
    return (await this.#redis.zrangebyscore(this.#keys.ofRun(name, epoch).metrics, from, to)).map(Number)
  }

  async metricSums({ name, epoch }: StoredRun, step: number): Promise<Record<string, number>> {
    const sums = await this.#redis.hgetall(this.#keys.ofRun(name, epoch).metricsOf(step))
    return Object.fromEntries(Object.entries(sums).map(([field, sum]) => [field, Number(sum)]))
  }

  /** Forgets a run and whatever it holds. */
  async remove(name: string): Promise<void> {
    await this.#redis.srem(this.#keys.runs, name)
    await this.#redis.unlink(this.#keys.run(name)) // no script touches what has no run
    await this.#unlink(this.#keys.everyOf(name))
  }

  /** Forgets what a run holds in one of its epochs. */
  async forgetEpoch(name: string, epoch: number): Promise<void> {
    await this.#unlink(this.#keys.everyOfEpoch(name, epoch))
  }

  async #unlink(keyPattern: string): Promise<void> {
    const pattern = keyPattern.replace(/[[\]*?\\]/g, (mark) => (mark === '*' ? mark : `\\${mark}`))
    for await (const { node, keys } of keysLike(this.#redis, pattern)) await node.unlink(...keys)
  }

  /** Sums per task: `{ leg_counting: { groups: 3, score: 1.5, … } }`. */
  async taskSums({ name, epoch }: StoredRun): Promise<Record<string, Record<string, number>>> {
    const sums: Record<string, Record<string, number>> = {}
    for (const [field, value] of Object.entries(await this.#redis.hgetall(this.#keys.ofRun(name, epoch).tasks))) {
      const at = field.indexOf(':')
      const task = field.slice(0, at)
      sums[task] = { ...sums[task], [field.slice(at + 1)]: Number(value) }
    }
    return sums
  }
}

/** Of a new run. Counted from the time, so that it shares nothing with one of the same name that was deleted. */
export function firstEpoch(): number {
  return Date.now()
}
