/** Batches in Redis: composed by one script, acknowledged by another. */
import type { Redis } from 'ioredis'
import type { Balance, Share, StoredBatch } from '../words/batch.ts'
import { settling } from './groups.ts'
import type { Keys } from './keys.ts'
import { loadScript } from './script.ts'

const composeBatch = loadScript('compose-batch-8')
const ackBatch = loadScript('ack-batch-6')

/** Steps that may wait for their acknowledgement. */
export const OPEN_MAX = 8
/** Acknowledged steps that are remembered one by one; all below the lowest of them count as acknowledged. */
const STEPS_MAX = 10_000

/** A run in its epoch. */
export interface RunPlace {
  name: string
  epoch: number
}

export interface Composition {
  step: number
  /** Rollouts that a batch has at least, and with how many it is composed all the same. */
  wanted: number
  least: number
  policyVersion: number
  maxLag: number | null
  balance: Balance
  unscored: 'omit' | 'mask'
  keep: number
}

export type Composed =
  | { kind: 'batch'; batch: StoredBatch }
  /** Rollouts that lack, and those that are queued. */
  | { kind: 'missing'; missing: number; queued: number }
  | { kind: 'acknowledged' }
  | { kind: 'too_many' }
  | { kind: 'epoch' }

export type Acknowledged = 'acknowledged' | 'waiting' | 'unknown' | 'epoch'

/** A group of a batch, as it lies in Redis. */
export interface PackedGroup {
  about: Buffer
  texts: Buffer
  arrays: Buffer | null
  result: Buffer
}

export class Batches {
  readonly #redis: Redis
  readonly #keys: Keys

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis
    this.#keys = keys
  }

  async compose({ name, epoch }: RunPlace, composition: Composition): Promise<Composed> {
    const keys = this.#keys.ofRun(name, epoch)
    const { step, wanted, least, balance, unscored, keep } = composition
    const ask = {
      epoch,
      step,
      now: Date.now(),
      wanted,
      least,
      count: unscored === 'omit' ? 'scored_rollouts' : 'rollouts',
      policy_version: composition.policyVersion,
      max_lag: composition.maxLag ?? undefined,
      balance,
      unscored,
      open_max: OPEN_MAX,
      ...settling(this.#keys, { run: name, epoch }, keep),
    }
    const [kind, ...rest] = (await composeBatch(
      this.#redis,
      [
        keys.run,
        keys.buffer,
        keys.facts,
        keys.stock,
        keys.texts,
        keys.batch(step),
        keys.openBatches,
        keys.acknowledged,
      ],
      [JSON.stringify(ask)],
    )) as [string, ...(string | number)[]] // as its contract says
    switch (kind) {
      case 'composed':
      case 'known':
        return { kind: 'batch', batch: JSON.parse(String(rest[0])) as StoredBatch } // written by the script
      case 'missing':
        return { kind: 'missing', missing: Number(rest[0]), queued: Number(rest[1]) }
      default:
        return { kind: kind as 'acknowledged' | 'too_many' | 'epoch' }
    }
  }

  async find({ name, epoch }: RunPlace, step: number): Promise<StoredBatch | undefined> {
    const text = await this.#redis.hget(this.#keys.ofRun(name, epoch).batch(step), 'batch')
    return text === null ? undefined : (JSON.parse(text) as StoredBatch) // written by compose
  }

  async acknowledge(
    { name, epoch }: RunPlace,
    step: number,
    share: Share | undefined,
    keep: number,
  ): Promise<Acknowledged> {
    const keys = this.#keys.ofRun(name, epoch)
    const ask = { epoch, step, ...share, steps_max: STEPS_MAX, ...settling(this.#keys, { run: name, epoch }, keep) }
    const acknowledged = await ackBatch(
      this.#redis,
      [keys.run, keys.stock, keys.texts, keys.batch(step), keys.openBatches, keys.acknowledged],
      [JSON.stringify(ask)],
    )
    return acknowledged as Acknowledged // the script gives one of these words
  }

  /** A group of an open batch; undefined if the batch was acknowledged meanwhile. */
  async group({ name, epoch }: RunPlace, id: string): Promise<PackedGroup | undefined> {
    const key = this.#keys.ofRun(name, epoch).group(id)
    const [about, texts, arrays, result] = await this.#redis.hmgetBuffer(key, 'about', 'texts', 'arrays', 'result')
    if (!about || !texts || !result) return undefined
    return { about, texts, arrays: arrays ?? null, result }
  }
}
