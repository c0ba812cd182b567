/** Runs in Redis: settings, counters, and the positions that were handed out. */
import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Item } from '../words/item.ts'
import type { CurriculumPoint, SettingsChange } from '../words/run.ts'
import type { Keys } from './keys.ts'
import { keysLike } from './nodes.ts'
import { loadScript } from './script.ts'

const changeSettings = loadScript('change-settings-1')

/** A run as it is stored. */
export interface StoredRun {
  name: string
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

const TEXTS = new Set(['settings', 'uuid', 'epoch', 'revision', 'created'])

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
      epoch: Number(fields.epoch),
      revision: Number(fields.revision),
      uuid: fields.uuid ?? '',
      created: Number(fields.created),
      named: JSON.parse(fields.settings ?? '{}') as SettingsChange, // written by change
      counters: Object.fromEntries(
        Object.entries(fields)
          .filter(([key]) => !TEXTS.has(key))
          .map(([key, value]) => [key, Number(value)]),
      ),
    }
  }

  /** False if somebody changed the run since `revision` (0: since it was not there). */
  async change(name: string, revision: number, named: SettingsChange, restart: boolean): Promise<boolean> {
    const args = [revision, JSON.stringify(named), Date.now(), randomUUID(), restart ? '1' : '0']
    const done = Number(await changeSettings(this.#redis, [this.#keys.run(name)], args)) > 0
    if (done && revision === 0) await this.#redis.sadd(this.#keys.runs, name)
    return done
  }

  names(): Promise<string[]> {
    return this.#redis.smembers(this.#keys.runs)
  }

  /** The next `count` positions of the sequence, as the first of them. */
  async claimPositions(name: string, count: number): Promise<number> {
    const [[, end] = []] =
      (await this.#redis
        .multi()
        .hincrby(this.#keys.run(name), 'position', count)
        .hincrby(this.#keys.run(name), 'items', count)
        .exec()) ?? []
    return Number(end) - count
  }

  /** Items that came too late for the call that claimed them. */
  async takeLate({ name, epoch }: StoredRun, count: number): Promise<Item[]> {
    const texts = (await this.#redis.lpop(this.#keys.ofRun(name, epoch).late, count)) ?? []
    return texts.map((text) => JSON.parse(text) as Item) // written by putLate
  }

  async putLate({ name, epoch }: StoredRun, items: Item[]): Promise<void> {
    if (items.length > 0)
      await this.#redis.rpush(this.#keys.ofRun(name, epoch).late, ...items.map((item) => JSON.stringify(item)))
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

  /** Forgets a run and whatever it holds. */
  async remove(name: string): Promise<void> {
    await this.#redis.srem(this.#keys.runs, name)
    const pattern = this.#keys.everyOf(name).replace(/[[\]*?\\]/g, (mark) => (mark === '*' ? mark : `\\${mark}`))
    for await (const { node, keys } of keysLike(this.#redis, pattern)) await node.unlink(...keys)
  }

  /** Sums per task: `{ leg_counting: { groups: 3, score: 1.5, … } }`. */
  async taskSums({ name, epoch }: StoredRun): Promise<Record<string, Record<string, number>>> {
    const sums: Record<string, Record<string, number>> = {}
    for (const [field, value] of Object.entries(await this.#redis.hgetall(this.#keys.ofRun(name, epoch).tasks))) {
      const at = field.lastIndexOf(':')
      const task = field.slice(0, at)
      sums[task] = { ...sums[task], [field.slice(at + 1)]: Number(value) }
    }
    return sums
  }
}
