/**
 * Open groups in Redis. Scripts record samples, settle them and close groups, so that each sample counts in exactly one
 * group.
 */

import { decodeBlob } from '@reasoning-gym-server/codec/compressed-blob'
import type { Rollout } from '@reasoning-gym-server/contract/rollout'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import type { Redis } from 'ioredis'
import { fleetNow } from '../../../platform/redis/fleet-clock.ts'
import type { RedisKeys } from '../../../platform/redis/keys.ts'
import { defineScript } from '../../../platform/redis/scripts.ts'
import { runRecord } from '../../runs/run-record.ts'
import { createOpenGroupKeys } from './keys.ts'
import { openGroupRecord, openGroupTotalsRecord, SAMPLE_FIELDS } from './open-group-record.ts'

const CONSTANTS = {
  RUN: runRecord.constants,
  OPEN: { ...openGroupRecord.constants, ...SAMPLE_FIELDS },
  TOTALS: openGroupTotalsRecord.constants,
}
const recordSample = defineScript({
  folder: import.meta.dirname,
  name: 'record-sample',
  keys: [
    'run',
    'openGroups',
    'openGroup',
    'openGroupTotals',
    'pendingSamples',
    'closedGroups',
    'countedRollouts',
    'sampleProcesses',
  ],
  constants: CONSTANTS,
})
const settleSamples = defineScript({
  folder: import.meta.dirname,
  name: 'settle-samples',
  keys: [
    'run',
    'openGroups',
    'pendingSamples',
    'closedGroups',
    'openGroupTotals',
    'countedRollouts',
    'sampleProcesses',
  ],
  constants: CONSTANTS,
})
const removeClosedGroup = defineScript({
  folder: import.meta.dirname,
  name: 'remove-closed-group',
  keys: ['closedGroups', 'closedGroup', 'openGroupTotals'],
  constants: CONSTANTS,
})

/** Limit on the open and closed groups of a run. Samples of further items are scored but not collected. */
const MAX_GROUPS = 100_000
/** Limit on the compressed rollouts of these groups, in bytes. */
const MAX_BYTES = 512 * 1024 * 1024
/** Number of named samples of closed groups that are remembered, so that they do not count again. */
const MAX_COUNTED_ROLLOUTS = 200_000
const COUNTED_ROLLOUTS_TTL_MS = 24 * 60 * 60 * 1000
/** How long a process is remembered: longer than the samples of a dead process stay pending. */
const PROCESS_TTL_MS = 60 * 60 * 1000
/** Abandoned samples and idle groups that one call settles, which takes Redis a few milliseconds. */
const SWEEP_SIZE = 500

/** Limits on the groups of one run. */
export interface OpenGroupLimits {
  groups: number
  bytes: number
}
export const OPEN_GROUP_LIMITS: OpenGroupLimits = { groups: MAX_GROUPS, bytes: MAX_BYTES }

/** A run as a process read it. Scripts reject it if the run has changed since. */
export interface OpenGroupRun {
  name: string
  epoch: number
  revision: number
  settings: RunSettings
}

/** A sample in the form in which it is recorded. */
export interface RecordedSample {
  /** Key of the sample's item. */
  item: string
  itemId: string
  id: string
  /** Whether the client named the rollout; `id` is then derived from that name. */
  isNamed: boolean
  /** Token of the call that sent the sample. */
  call: string
  contentHash: string
  rollout: Buffer
}

export type RecordSampleResult = 'gathered' | 'duplicate' | 'limit' | 'run_changed'
type SampleRef = Pick<RecordedSample, 'item' | 'id' | 'call'>

export interface SettleRequest {
  /** Samples whose responses were sent. */
  delivered: SampleRef[]
  /** Samples whose clients disconnected before the response was sent. */
  undelivered: SampleRef[]
  /** Also settles samples of dead processes and closes groups that expect no more samples. */
  sweep?: { abandonedMs: number } | undefined
}

/** A closed group that the run has not accepted yet. */
export interface ClosedGroup {
  itemId: string
  rollouts: Rollout[]
  forBuffer: boolean
  closedAt: number
}

export class OpenGroupRepository {
  readonly #redis: Redis
  readonly #keys: ReturnType<typeof createOpenGroupKeys>
  readonly #limits: OpenGroupLimits

  constructor(redis: Redis, keys: RedisKeys, limits = OPEN_GROUP_LIMITS) {
    this.#redis = redis
    this.#keys = createOpenGroupKeys(keys)
    this.#limits = limits
  }

  /** Records a sample before its response is sent. A second call for the same sample changes nothing. */
  async record(
    { name, epoch, revision }: OpenGroupRun,
    { item, itemId, id, isNamed, call, contentHash, rollout }: RecordedSample,
  ): Promise<RecordSampleResult> {
    const keys = this.#keys.forRun(name, epoch)
    const params = {
      epoch,
      revision,
      now: fleetNow(),
      item,
      item_id: itemId,
      is_named: isNamed,
      max_groups: this.#limits.groups,
      max_bytes: this.#limits.bytes,
    }
    const result = await recordSample(this.#redis, { ...keys, openGroup: keys.openGroup(item) }, [
      id,
      call,
      contentHash,
      rollout,
      JSON.stringify(params),
    ])
    return result as RecordSampleResult // the script returns one of these words
  }

  /**
   * Returns the IDs of the groups that it closed, or `run_changed`, without any effect, if the settings have changed.
   */
  async settle(
    { name, epoch, revision, settings }: OpenGroupRun,
    { delivered, undelivered, sweep }: SettleRequest,
  ): Promise<string[] | 'run_changed'> {
    const keys = this.#keys.forRun(name, epoch)
    const now = fleetNow()
    const params = {
      epoch,
      revision,
      now,
      group_size: settings.group_size,
      for_buffer: settings.buffer && settings.buffer_open_groups,
      open_group_prefix: keys.openGroup(''),
      closed_group_prefix: keys.closedGroup(''),
      delivered: delivered.map(({ item, id, call }) => [item, id, call]),
      undelivered: undelivered.map(({ item, id, call }) => [item, id, call]),
      ...(sweep && {
        abandoned_before: now - sweep.abandonedMs,
        idle_before: now - settings.open_group_timeout_s * 1000,
      }),
      max_samples: SWEEP_SIZE,
      max_groups: SWEEP_SIZE,
      max_counted_rollouts: MAX_COUNTED_ROLLOUTS,
      counted_rollouts_after: now - COUNTED_ROLLOUTS_TTL_MS,
      process_ttl_ms: PROCESS_TTL_MS,
    }
    const result = await settleSamples(this.#redis, keys, [JSON.stringify(params)])
    // // the type that the script returns; an epoch that has ended has nothing to settle
    return (result ?? []) as string[] | 'run_changed'
  }

  /** Returns the groups closed before `time` that the run has not accepted yet, oldest first. */
  listClosed({ name, epoch }: Pick<OpenGroupRun, 'name' | 'epoch'>, time: number, limit: number): Promise<string[]> {
    return this.#redis.zrangebyscore(this.#keys.forRun(name, epoch).closedGroups, 0, time, 'LIMIT', 0, limit)
  }

  /** Returns undefined if the run has already accepted the group. */
  async getClosed({ name, epoch }: Pick<OpenGroupRun, 'name' | 'epoch'>, id: string): Promise<ClosedGroup | undefined> {
    const fields = await this.#redis.hgetallBuffer(this.#keys.forRun(name, epoch).closedGroup(id))
    const names = Object.keys(openGroupRecord.constants)
    const texts = Object.fromEntries(
      names.flatMap((field) => (fields[field] ? [[field, fields[field].toString()]] : [])),
    )
    const { item_id, order, for_buffer, closed_at } = openGroupRecord.parse(texts)
    if (item_id === undefined || !order) return undefined
    const rollouts = order.split(' ').flatMap((sample) => {
      const blob = fields[`${SAMPLE_FIELDS.texts_prefix}${sample}`]
      return blob ? [JSON.parse(decodeBlob(blob).toString()) as Rollout] : [] // written by packRollout
    })
    return { itemId: item_id, rollouts, forBuffer: for_buffer === 1, closedAt: closed_at ?? 0 }
  }

  async removeClosed({ name, epoch }: Pick<OpenGroupRun, 'name' | 'epoch'>, id: string): Promise<void> {
    const keys = this.#keys.forRun(name, epoch)
    await removeClosedGroup(this.#redis, { ...keys, closedGroup: keys.closedGroup(id) }, [id])
  }
}
