/** Batches in Redis: composed by one script, acknowledged by another. */
import type { Redis } from 'ioredis'
import type { Balance, RankSlice, StoredBatch } from '../../contract/batch.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import { buildRetirementArgs } from '../rollouts/repository.ts'
import { type BatchKeys, createBatchKeys } from './keys.ts'

const composeBatch = defineScript({
  folder: import.meta.dirname,
  name: 'compose-batch',
  keys: ['run', 'buffer', 'groupSummaries', 'backlog', 'retainedTexts', 'batch', 'openBatches', 'acknowledgedSteps'],
})
const acknowledgeBatch = defineScript({
  folder: import.meta.dirname,
  name: 'acknowledge-batch',
  keys: ['run', 'backlog', 'retainedTexts', 'batch', 'openBatches', 'acknowledgedSteps'],
})

/** Steps that may wait for their acknowledgement. */
export const MAX_OPEN_BATCHES = 8
/** Acknowledged steps that are remembered one by one; all below the lowest of them count as acknowledged. */
const MAX_ACKNOWLEDGED_STEPS = 10_000

/** A run in its epoch. */
export interface RunRef {
  name: string
  epoch: number
}

export interface ComposeBatchParams {
  step: number
  /** Rollouts that a batch has at least, and with how many it is composed all the same. */
  wanted: number
  least: number
  policyVersion: number
  maxLag: number | null
  balance: Balance
  unscored: 'omit' | 'mask'
  maxRetainedGroups: number
}

export type ComposeBatchResult =
  | { kind: 'batch'; batch: StoredBatch }
  /** Rollouts that lack, and those that are queued. */
  | { kind: 'missing'; missing: number; queued: number }
  | { kind: 'acknowledged' }
  | { kind: 'too_many' }
  | { kind: 'epoch' }

export type AcknowledgeBatchResult = 'acknowledged' | 'waiting' | 'unknown' | 'epoch'

/** A group of a batch, as it lies in Redis. */
export interface PackedBatchGroup {
  metadata: Buffer
  texts: Buffer
  arrays: Buffer | null
  result: Buffer
}

export class BatchRepository {
  readonly #redis: Redis
  readonly #keys: BatchKeys

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = createBatchKeys(keys)
  }

  async compose({ name, epoch }: RunRef, composition: ComposeBatchParams): Promise<ComposeBatchResult> {
    const keys = this.#keys.forRun(name, epoch)
    const { step, wanted, least, balance, unscored, maxRetainedGroups: keep } = composition
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
      open_max: MAX_OPEN_BATCHES,
      ...buildRetirementArgs(keys, keep),
    }
    const [kind, ...rest] = (await composeBatch(this.#redis, { ...keys, batch: keys.batch(step) }, [
      JSON.stringify(ask),
    ])) as [string, ...(string | number)[]] // as its contract says
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

  async get({ name, epoch }: RunRef, step: number): Promise<StoredBatch | undefined> {
    const text = await this.#redis.hget(this.#keys.forRun(name, epoch).batch(step), 'batch')
    return text === null ? undefined : (JSON.parse(text) as StoredBatch) // written by compose
  }

  async acknowledge(
    { name, epoch }: RunRef,
    step: number,
    share: RankSlice | undefined,
    keep: number,
  ): Promise<AcknowledgeBatchResult> {
    const keys = this.#keys.forRun(name, epoch)
    const ask = {
      epoch,
      step,
      ...share,
      steps_max: MAX_ACKNOWLEDGED_STEPS,
      ...buildRetirementArgs(keys, keep),
    }
    const acknowledged = await acknowledgeBatch(this.#redis, { ...keys, batch: keys.batch(step) }, [
      JSON.stringify(ask),
    ])
    return acknowledged as AcknowledgeBatchResult // the script gives one of these words
  }

  /** A group of an open batch; undefined if the batch was acknowledged meanwhile. */
  async getGroup({ name, epoch }: RunRef, id: string): Promise<PackedBatchGroup | undefined> {
    const key = this.#keys.forRun(name, epoch).group(id)
    const [about, texts, arrays, result] = await this.#redis.hmgetBuffer(key, 'about', 'texts', 'arrays', 'result')
    if (!about || !texts || !result) return undefined
    return { metadata: about, texts, arrays: arrays ?? null, result }
  }
}
