/**
 * Batches in Redis, in the slot of their run: keys, the fields of an open batch, and the scripts that compose and
 * acknowledge batches.
 */
import type { Balance, RankSlice, StoredBatch } from '@reasoning-gym-server/contract/batch'
import type { Redis } from 'ioredis'
import type { Platform } from '../../platform/platform.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { RecordDeclaration } from '../../platform/redis/record.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import { buildRetirementArgs, createGroupKeys, groupRecord } from '../rollouts/records.ts'
import { lostTextsError } from '../rollouts/repository.ts'
import type { EpochRef } from '../runs/epochs.ts'
import { FLOW_COUNTERS, MAX_FLOW_SAMPLES } from '../runs/flow.ts'
import { backlogRecord, epochPrefix, type ListEpochKeys, runRecord, STATE_CONSTANTS } from '../runs/records.ts'
import { RunIndex } from '../runs/run-index.ts'

/** Version of the JSON that a composed batch is stored as. */
const BATCH_FORMAT = 2

const batchRecord = new RecordDeclaration({
  batch: { kind: 'text' },
  /** `RANK/RANKS`: set once that rank of that number of ranks has acknowledged. */
  acknowledged_ranks: { kind: 'counters', prefix: 'acknowledged_rank:', names: /^\d+\/\d+$/ },
  /** How many ranks have acknowledged, by the number of ranks. */
  rank_counts: { kind: 'counters', prefix: 'rank_count:', names: /^\d+$/ },
})

type BatchKeys = ReturnType<typeof createBatchKeys>

export function createBatchKeys(keys: RedisKeys) {
  const groups = createGroupKeys(keys)
  const forRun = (name: string, epoch: number) => {
    const prefix = epochPrefix(keys, name, epoch)
    return {
      ...groups.forRun(name, epoch),
      /** Sorted set of steps. */
      acknowledgedSteps: `${prefix}:acknowledged-steps`,
      batch: (step: number | string) => `${prefix}:batch:${step}`,
    }
  }
  const listEpochKeys: ListEpochKeys = (name, epoch) => {
    const run = forRun(name, epoch)
    return {
      keys: [run.acknowledgedSteps],
      indexes: [{ index: run.openBatches, listKeys: (step) => [run.batch(step)] }],
    }
  }
  return { forRun, listEpochKeys }
}

const CONSTANTS = {
  RUN: runRecord.constants,
  GROUP: groupRecord.constants,
  BATCH: batchRecord.constants,
  BACKLOG: backlogRecord.constants,
}

const composeBatch = defineScript(import.meta.dirname, 'compose-batch', { ...CONSTANTS, STATE: STATE_CONSTANTS })
const acknowledgeBatch = defineScript(import.meta.dirname, 'acknowledge-batch', CONSTANTS)

/** Limit of steps whose batches wait for acknowledgement. */
export const MAX_OPEN_BATCHES = 8
/**
 * Limit of acknowledged steps that are remembered individually. All steps below the lowest of them count as
 * acknowledged.
 */
const MAX_ACKNOWLEDGED_STEPS = 10_000

export interface RunRef extends EpochRef {
  /** Distinguishes groups of one ID before and after a rewind. */
  revision?: number
}

interface ComposeBatchParams {
  step: number
  /** Rewinds of the run when the call came. What it waits for after another one belongs to another history. */
  rewinds: number
  /**
   * Target number of rollouts, and the minimum for composing a batch. With a minimum of 0, an empty batch may be
   * composed.
   */
  targetRollouts: number
  minRollouts: number
  /** Whether to compose nothing below `targetRollouts` while groups are queued. */
  awaitQueued: boolean
  policyVersion: number
  maxLag: number | null
  balance: Balance
  unscored: 'omit' | 'mask'
  maxRetainedGroups: number
}

export type ComposeBatchResult =
  | { kind: 'batch'; batch: StoredBatch }
  /** Number of rollouts that are missing, and of those that are queued. */
  | { kind: 'insufficient'; missing: number; queued: number }
  | { kind: 'acknowledged' }
  | { kind: 'too_many_open' }
  /** The run was rewound, or is in another epoch. */
  | { kind: 'run_changed' }

type AcknowledgeBatchResult = 'acknowledged' | 'waiting' | 'unknown' | 'epoch_changed'

export interface PackedBatchGroup {
  metadata: Buffer
  texts: Buffer
  arrays: Buffer | null
  result: Buffer
}

export class BatchRepository {
  readonly #redis: Redis
  readonly #keys: BatchKeys
  readonly #index: RunIndex

  constructor({ redis, keys }: Pick<Platform, 'redis' | 'keys'>) {
    this.#index = new RunIndex(redis, keys)
    this.#redis = redis
    this.#keys = createBatchKeys(keys)
  }

  async compose({ name, epoch }: RunRef, composition: ComposeBatchParams): Promise<ComposeBatchResult> {
    const keys = this.#keys.forRun(name, epoch)
    const { step, targetRollouts, minRollouts, balance, unscored, maxRetainedGroups } = composition
    const params = {
      epoch,
      rewinds: composition.rewinds,
      step,
      now: redisNow(),
      target_rollouts: targetRollouts,
      min_rollouts: minRollouts,
      await_queued: composition.awaitQueued,
      only_scored: unscored === 'omit',
      policy_version: composition.policyVersion,
      max_lag: composition.maxLag ?? undefined,
      balance,
      unscored,
      max_open_batches: MAX_OPEN_BATCHES,
      format: BATCH_FORMAT,
      max_flow_samples: MAX_FLOW_SAMPLES,
      flow_fields: FLOW_COUNTERS,
      ...buildRetirementArgs(keys, maxRetainedGroups),
    }
    await this.#index.markUsed({ name, epoch })
    const [kind, ...rest] = (await composeBatch(this.#redis, { ...keys, batch: keys.batch(step) }, [
      JSON.stringify(params),
    ])) as [string, ...(string | number)[]] // the reply that the script documents
    switch (kind) {
      case 'composed':
      case 'existing':
        return { kind: 'batch', batch: parseBatch(String(rest[0])) }
      case 'insufficient':
        return { kind: 'insufficient', missing: Number(rest[0]), queued: Number(rest[1]) }
      default:
        return { kind: kind as 'acknowledged' | 'too_many_open' | 'run_changed' }
    }
  }

  async get({ name, epoch }: RunRef, step: number): Promise<StoredBatch | undefined> {
    const text = await this.#redis.hget(this.#keys.forRun(name, epoch).batch(step), batchRecord.constants.batch)
    return text === null ? undefined : parseBatch(text)
  }

  async acknowledge(
    { name, epoch }: RunRef,
    step: number,
    rankSlice: RankSlice | undefined,
    maxRetainedGroups: number,
  ): Promise<AcknowledgeBatchResult> {
    const keys = this.#keys.forRun(name, epoch)
    const params = {
      epoch,
      step,
      ...rankSlice,
      max_acknowledged_steps: MAX_ACKNOWLEDGED_STEPS,
      ...buildRetirementArgs(keys, maxRetainedGroups),
    }
    await this.#index.markUsed({ name, epoch })
    const acknowledged = await acknowledgeBatch(this.#redis, { ...keys, batch: keys.batch(step) }, [
      JSON.stringify(params),
    ])
    return acknowledged as AcknowledgeBatchResult // the script returns one of these words
  }

  /**
   * Returns a group of an open batch, or undefined if the batch was acknowledged in the meantime. Throws
   * `redis_unavailable` if Redis has lost its texts.
   */
  async getGroup({ name, epoch }: RunRef, id: string): Promise<PackedBatchGroup | undefined> {
    const keys = this.#keys.forRun(name, epoch)
    const { metadata: a, result: b, awaiting_delivery: c } = groupRecord.constants
    const [[metadata, result, awaited], texts, arrays] = await Promise.all([
      this.#redis.hmgetBuffer(keys.group(id), a, b, c),
      this.#redis.getBuffer(keys.texts(id)),
      this.#redis.getBuffer(keys.arrays(id)),
    ])
    if (!awaited || !metadata || !result) return undefined
    if (!texts) throw lostTextsError(id)
    return { metadata, texts, arrays, result }
  }
}

/** Checks only the format, not every number, because a batch is read once per rank. */
function parseBatch(json: string): StoredBatch {
  const batch = JSON.parse(json) as StoredBatch & { format: number } // written by compose-batch
  if (batch.format !== BATCH_FORMAT) throw new Error(`A stored batch has format ${batch.format}, not ${BATCH_FORMAT}`)
  return batch
}
