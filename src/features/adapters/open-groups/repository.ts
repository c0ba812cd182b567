/**
 * Open groups in Redis: their keys in the hash slot of the run, their records, and the scripts that record samples, confirm
 * them and close groups, so that each sample counts in exactly one group. The sorted set of a run's open groups is among
 * the keys of runs, because runs count it.
 */
import { decodeBlob } from '@reasoning-gym-server/codec/compressed-blob'
import { OPEN_GROUP_ID_PREFIX, type Rollout } from '@reasoning-gym-server/contract/rollout'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import type { Redis } from 'ioredis'
import { batchCalls } from '../../../platform/batch-calls.ts'
import type { RedisKeys } from '../../../platform/redis/keys.ts'
import { RecordDeclaration } from '../../../platform/redis/record.ts'
import { redisNow } from '../../../platform/redis/redis-clock.ts'
import { defineScript } from '../../../platform/redis/scripts.ts'
import { reportUnreadable, tryRead } from '../../../platform/redis/unreadable-entries.ts'
import type { KnownVerdicts } from '../../rollouts/group-payload.ts'
import { createRunKeys, epochPrefix, groupSizesRecord, type ListEpochKeys, runRecord } from '../../runs/records.ts'
import { RunIndex } from '../../runs/run-index.ts'
import type { KnownVerdict } from '../samples.ts'

export function createOpenGroupKeys(keys: RedisKeys) {
  const runs = createRunKeys(keys)
  const forRun = (name: string, epoch: number) => {
    const prefix = epochPrefix(keys, name, epoch)
    return {
      ...runs.forRun(name, epoch),
      /** Sorted set: `ITEM SAMPLE` of samples whose response is in flight, by the time they were recorded. */
      pendingSamples: `${prefix}:pending-samples`,
      /** Sorted set: IDs of closed groups that the run has not accepted yet, by the time they were closed. */
      closedGroups: `${prefix}:closed-groups`,
      /** Hash: `openGroupTotalsRecord`. */
      openGroupTotals: `${prefix}:open-group-totals`,
      /** Sorted set: IDs of samples in closed groups that the client named, by the time the group was closed. */
      countedRollouts: `${prefix}:counted-rollouts`,
      /** Hash: process that records samples to the time of its last sign of life, in ms of the Redis clock. */
      sampleProcesses: `${prefix}:sample-processes`,
      /** Hash: `openGroupRecord` and `SAMPLE_FIELDS`, by the key of the item. */
      openGroup: (item: string) => `${prefix}:open-group:${item}`,
      closedGroup: (id: string) => `${prefix}:closed-group:${id}`,
    }
  }
  const listEpochKeys: ListEpochKeys = (name, epoch) => {
    const run = forRun(name, epoch)
    return {
      keys: [run.pendingSamples, run.openGroupTotals, run.countedRollouts, run.sampleProcesses],
      indexes: [
        { index: run.openGroups, listKeys: (item) => [run.openGroup(item)] },
        { index: run.closedGroups, listKeys: (id) => [run.closedGroup(id)] },
      ],
      swept: [run.closedGroups],
      rewound: {
        dropped: [
          { index: run.openGroups, prefix: run.openGroup('') },
          { index: run.closedGroups, prefix: run.closedGroup('') },
          { index: run.pendingSamples },
          { index: run.countedRollouts }, // a trainer that repeats the steps may name its rollouts as before
        ],
        zeroed: [{ key: run.openGroupTotals, field: openGroupTotalsRecord.constants.bytes }],
      },
    }
  }
  return { forRun, listEpochKeys }
}

const openGroupRecord = new RecordDeclaration({
  item_id: { kind: 'text' },
  /** Number of samples whose response is not delivered yet; `counted` is the number of samples that count. */
  pending: { kind: 'counter' },
  counted: { kind: 'counter' },
  /** IDs of the samples that count, in order, separated by spaces. */
  order: { kind: 'text' },
  bytes: { kind: 'counter' },
  /** 1 if the closed group must wait for a trainer in the buffer. */
  for_buffer: { kind: 'counter' },
  closed_at: { kind: 'timestamp' },
  /** Number of samples of the group, if the trainer has said it. */
  size: { kind: 'counter' },
  /** Number of counted samples, the first ones, that belong to an earlier pass over the data. */
  cut: { kind: 'counter' },
  /** Number of the latest sample in the order of the run's samples, and the widest gap between two of the group. */
  last_place: { kind: 'counter' },
  widest_gap: { kind: 'counter' },
})

/** Prefixes of the fields that an open group has for each sample, or for each distinct content of pending samples. */
const SAMPLE_FIELDS = {
  /** Rollout of a sample: a compressed blob of JSON. */
  texts_prefix: 'texts:',
  /** Reward of a sample, empty if it could not be scored. */
  reward_prefix: 'reward:',
  /** JSON of a pending sample: `{ call, content, retried_at? }`. */
  pending_prefix: 'pending:',
  /** IDs of pending samples with that content that have not been matched to a retry, separated by spaces. */
  unmatched_prefix: 'unmatched:',
} as const

const openGroupTotalsRecord = new RecordDeclaration({
  /** Bytes of the stored rollouts of open and closed groups. */
  bytes: { kind: 'counter' },
  /** Number of groups closed so far, used to number their IDs. */
  closed: { kind: 'counter' },
})

const CONSTANTS = {
  RUN: runRecord.constants,
  OPEN: { ...openGroupRecord.constants, ...SAMPLE_FIELDS },
  TOTALS: openGroupTotalsRecord.constants,
  SIZES: groupSizesRecord.constants,
}
const writeSamples = defineScript(import.meta.dirname, 'write-samples', CONSTANTS)
const countSubstitutes = defineScript(import.meta.dirname, 'count-substitutes', CONSTANTS)
const removeClosedGroups = defineScript(import.meta.dirname, 'remove-closed-groups', CONSTANTS)

/** Limit on the open and closed groups of a run. Samples of further items are scored but not collected. */
const MAX_GROUPS = 100_000
/** Limit on the compressed rollouts of these groups, in bytes. */
const MAX_BYTES = 512 * 1024 * 1024
/** Limit on the pending samples of a group, as many as the largest group has. Each group that closes moves them to the next one. */
const MAX_PENDING = 1024
/** Number of named samples of closed groups that are remembered, so that they do not count again. */
const MAX_COUNTED_ROLLOUTS = 200_000
const COUNTED_ROLLOUTS_TTL_MS = 24 * 60 * 60 * 1000
/** How long a process is remembered: longer than the samples of a dead process stay pending. */
const PROCESS_TTL_MS = 60 * 60 * 1000
/** Abandoned samples and idle groups that one call confirms, which takes Redis a few milliseconds. */
const SWEEP_SIZE = 500

const MAX_REMOVALS_PER_SCRIPT = 100

interface OpenGroupLimits {
  groups: number
  bytes: number
  pending: number
}
export const OPEN_GROUP_LIMITS: OpenGroupLimits = { groups: MAX_GROUPS, bytes: MAX_BYTES, pending: MAX_PENDING }

/** A run as a process read it. Scripts reject it if the run has changed since. */
export interface OpenGroupRun {
  name: string
  epoch: number
  revision: number
  settings: RunSettings
}

export interface RecordedSample {
  /** Key of the sample's item. */
  item: string
  itemId: string
  id: string
  /** Whether the client named the rollout; `id` is then derived from that name. */
  isNamed: boolean
  call: string
  contentHash: string
  reward: number | null
  /** When its call arrived, in milliseconds of the Redis clock. */
  arrived: number
  /** Number of samples that the trainer sends for the item, if it says so. */
  size?: number | undefined
  rollout: Buffer
}

export type RecordSampleResult = 'gathered' | 'duplicate' | 'limit'
export type SampleRef = Pick<RecordedSample, 'item' | 'id' | 'call'>

export interface SampleChanges {
  /** Samples that are recorded before their responses are sent. Recording a sample again changes nothing. */
  records?: readonly RecordedSample[]
  /** Samples whose responses were sent. */
  delivered?: readonly SampleRef[]
  /** Samples whose clients disconnected before the response was sent. */
  undelivered?: readonly SampleRef[]
  /** Also decides about samples of dead processes and closes groups that expect no more samples. */
  sweep?: { abandonedMs: number } | undefined
}

interface WrittenSamples {
  /** One for each record. */
  results: RecordSampleResult[]
  /** IDs of the groups that were closed. */
  closed: string[]
}

interface ClosedGroupRef extends Pick<OpenGroupRun, 'name' | 'epoch'> {
  id: string
}

/** A closed group that the run has not accepted yet. */
export interface ClosedGroup {
  itemId: string
  rollouts: Rollout[]
  known: KnownVerdicts | undefined
  forBuffer: boolean
  closedAt: number
}

export class OpenGroupRepository {
  readonly #redis: Redis
  readonly #keys: ReturnType<typeof createOpenGroupKeys>
  readonly #limits: OpenGroupLimits
  readonly #index: RunIndex
  readonly #removeInBatch = batchCalls((groups: ClosedGroupRef[]) => this.#removeAll(groups), {
    keyOf: ({ name, epoch }) => `${name}/${epoch}`,
    maxCalls: MAX_REMOVALS_PER_SCRIPT,
  })

  constructor(redis: Redis, keys: RedisKeys, limits = OPEN_GROUP_LIMITS) {
    this.#redis = redis
    this.#keys = createOpenGroupKeys(keys)
    this.#limits = limits
    this.#index = new RunIndex(redis, keys)
  }

  /**
   * Settles samples and records others, all of one process. Returns `run_changed`, without any effect, if the settings have
   * changed, and undefined if the epoch has ended.
   */
  async write(
    { name, epoch, revision, settings }: OpenGroupRun,
    { records = [], delivered = [], undelivered = [], sweep }: SampleChanges,
  ): Promise<WrittenSamples | 'run_changed' | undefined> {
    const keys = this.#keys.forRun(name, epoch)
    const now = redisNow()
    const params = {
      epoch,
      revision,
      now,
      group_size: settings.group_size,
      for_buffer: settings.buffer && settings.buffer_open_groups,
      open_group_prefix: keys.openGroup(''),
      closed_group_prefix: keys.closedGroup(''),
      id_prefix: OPEN_GROUP_ID_PREFIX,
      delivered: delivered.map(({ item, id, call }) => [item, id, call]),
      undelivered: undelivered.map(({ item, id, call }) => [item, id, call]),
      records: records.map(({ item, itemId, id, isNamed, call, arrived, contentHash, reward, size }) => ({
        item,
        item_id: itemId,
        id,
        call,
        arrived,
        content: contentHash,
        is_named: isNamed,
        reward: reward === null ? '' : String(reward),
        size,
      })),
      max_open_groups: this.#limits.groups,
      max_bytes: this.#limits.bytes,
      max_pending: this.#limits.pending,
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
    if (records.length > 0) await this.#index.markUsed({ name, epoch })
    const args = [JSON.stringify(params), ...records.map(({ rollout }) => rollout)]
    const reply = (await writeSamples(this.#redis, keys, args)) as WriteReply // as the script returns it
    if (!Array.isArray(reply)) return reply ?? undefined
    const [closed, results] = reply
    return { closed, results }
  }

  async countSubstitutes({ name, epoch }: Pick<OpenGroupRun, 'name' | 'epoch'>, count: number): Promise<void> {
    await countSubstitutes(this.#redis, this.#keys.forRun(name, epoch), [String(epoch), String(count)])
  }

  /**
   * Lists the rewards of the samples in the open group of an item that belong to the current pass over the data; null
   * for those that could not be scored.
   */
  async listRewards({ name, epoch }: Pick<OpenGroupRun, 'name' | 'epoch'>, item: string): Promise<(number | null)[]> {
    const key = this.#keys.forRun(name, epoch).openGroup(item)
    const [names, order, cut] = await Promise.all([
      this.#redis.hkeys(key),
      this.#redis.hget(key, openGroupRecord.constants.order),
      this.#redis.hget(key, openGroupRecord.constants.cut),
    ])
    const earlier = (order ?? '').split(' ').slice(0, Number(cut ?? 0))
    const others = new Set(earlier.map((id) => `${SAMPLE_FIELDS.reward_prefix}${id}`))
    const fields = names.filter((field) => field.startsWith(SAMPLE_FIELDS.reward_prefix) && !others.has(field))
    const rewards = fields.length === 0 ? [] : await this.#redis.hmget(key, ...fields)
    return rewards.flatMap((reward) => (reward === null ? [] : [reward === '' ? null : Number(reward)]))
  }

  /** Returns the groups closed before `time` that the run has not accepted yet, oldest first. */
  listClosed({ name, epoch }: Pick<OpenGroupRun, 'name' | 'epoch'>, time: number, limit: number): Promise<string[]> {
    return this.#redis.zrangebyscore(this.#keys.forRun(name, epoch).closedGroups, 0, time, 'LIMIT', 0, limit)
  }

  /** Returns undefined if the run has already accepted the group, or if nothing of it can be read. */
  async getClosed({ name, epoch }: Pick<OpenGroupRun, 'name' | 'epoch'>, id: string): Promise<ClosedGroup | undefined> {
    const key = this.#keys.forRun(name, epoch).closedGroup(id)
    const fields = await this.#redis.hgetallBuffer(key)
    const names = Object.keys(openGroupRecord.constants)
    const texts = Object.fromEntries(
      names.flatMap((field) => (fields[field] ? [[field, fields[field].toString()]] : [])),
    )
    const entry = { key, name: id }
    const group = tryRead(this.#redis, entry, () => openGroupRecord.parse(texts))
    const { item_id, order = '', for_buffer, closed_at } = group ?? {}
    const samples = order.split(' ').flatMap((sample) => {
      const field = `${SAMPLE_FIELDS.texts_prefix}${sample}`
      const blob = fields[field]
      if (!blob) return []
      const read = () => JSON.parse(decodeBlob(blob).toString()) as StoredSample // written by createRecordedSample
      return tryRead(this.#redis, { key, name: field }, read) ?? []
    })
    if (item_id === undefined || samples.length === 0) {
      if (Object.keys(fields).length > 0) reportUnreadable(this.#redis, entry)
      await this.removeClosed({ name, epoch }, id) // it would be tried again and again
      return undefined
    }
    return {
      itemId: item_id,
      rollouts: samples.map(({ known: _known, ...rollout }) => rollout),
      known: joinKnownVerdicts(samples),
      forBuffer: for_buffer === 1,
      closedAt: closed_at ?? 0,
    }
  }

  /** Groups that are removed at about the same time share a script. */
  removeClosed({ name, epoch }: Pick<OpenGroupRun, 'name' | 'epoch'>, id: string): Promise<void> {
    return this.#removeInBatch({ name, epoch, id })
  }

  async #removeAll(groups: ClosedGroupRef[]): Promise<undefined[]> {
    const [first] = groups
    if (!first) return []
    const keys = this.#keys.forRun(first.name, first.epoch)
    await removeClosedGroups(this.#redis, keys, [keys.closedGroup(''), ...groups.map(({ id }) => id)])
    return groups.map(() => undefined)
  }
}

/** The verdicts of all samples of a group, if each has one under the same settings. */
function joinKnownVerdicts(samples: readonly StoredSample[]): KnownVerdicts | undefined {
  const known = samples.flatMap((sample) => sample.known ?? [])
  const [first] = known
  if (!first || known.length < samples.length || known.some(({ revision }) => revision !== first.revision))
    return undefined
  const { revision, question } = first
  const gradingMs = Math.max(...known.map((one) => one.gradingMs))
  return { revision, question, gradingMs, verdicts: known.map(({ verdict }) => verdict) }
}

type StoredSample = Rollout & { known?: KnownVerdict }

type WriteReply = [closed: string[], results: RecordSampleResult[]] | 'run_changed' | null
