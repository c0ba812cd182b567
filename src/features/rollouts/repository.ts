/** Groups in Redis: accepted by one script, completed by another, so that what is accepted is scored once. */
import type { Redis } from 'ioredis'
import type { GroupSummary } from '../../contract/batch.ts'
import type { DumpKind } from '../../contract/dump.ts'
import type { Destination } from '../../contract/rollout.ts'
import type { GroupResult } from '../../grading/group.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import type { CurriculumInput } from '../runs/curriculum.ts'
import { type GroupMetadata, type GroupPayload, type GroupTexts, unpackMetadata, unpackTexts } from './group-payload.ts'
import { buildRunCounters, buildStepSums, buildTaskSums } from './group-statistics.ts'
import { createGroupKeys, type GroupKeys, type RunGroupKeys } from './keys.ts'

const acceptGroup = defineScript({
  folder: import.meta.dirname,
  name: 'accept-group',
  keys: ['run', 'group', 'pendingGroups', 'buffer', 'backlog', 'leaseExpiries', 'leasedItems'],
})
const reopenGroup = defineScript({
  folder: import.meta.dirname,
  name: 'reopen-group',
  keys: ['run', 'group', 'pendingGroups', 'backlog', 'failedGroups', 'recentGroups'],
})
const completeGroup = defineScript({
  folder: import.meta.dirname,
  name: 'complete-group',
  keys: [
    'run',
    'group',
    'pendingGroups',
    'buffer',
    'recentGroups',
    'taskSums',
    'curriculum',
    'curriculumHistory',
    'backlog',
    'groupSummaries',
    'retainedTexts',
    'failedGroups',
    'dumpState',
    'pendingRolloutRecords',
    'pendingFailedRecords',
    'recentAccuracies',
    'metricSteps',
  ],
})

const DUPLICATE_DETECTION_MS = 24 * 60 * 60 * 1000
/** Texts of a run's last groups that are kept for those who look. */
const MAX_RETAINED_TEXT_BYTES = 64 * 1024 * 1024
/** Groups of a run that can be tried again after their jobs failed. */
const MAX_RETRIABLE_GROUPS = 1000
/** Points of a run's history; older ones are forgotten. */
const MAX_HISTORY_POINTS = 100_000

/** Lines of a run that may wait for their file; above that its groups are not dumped. */
const MAX_PENDING_DUMP_BYTES = 512 * 1024 * 1024

/** Where a group is: its run, the run's epoch, its id in them. */
export interface GroupRef {
  run: string
  epoch: number
  group: string
}

/** A group's line for the dump files that it goes to. */
export interface DumpRecordInput {
  uuid: string
  kinds: DumpKind[]
  /** Of the line; the record is the line compressed. */
  bytes: number
  record: Buffer
}

/** What a completion did. */
export interface CompleteGroupResult {
  /** For each kind of dump that was offered: how many records wait now, or that there is no room. */
  dumpQueueLengths: (number | 'refused')[]
  /** The level of the task, if the group fed the curriculum. */
  levelChange: { before: number; after: number } | undefined
}

export type AcceptGroupResult = 'new' | 'known' | 'conflict' | 'full' | 'changed'

/** A stored group; `about` and `result` are gone once it is no longer kept. */
export interface StoredGroup {
  status: 'queued' | 'scored' | 'failed'
  destination: Destination | null
  /** Whether it wants to wait for a trainer. */
  forBuffer: boolean
  metadata: GroupMetadata | undefined
  result: GroupResult | undefined
}

/** A group that waits to be scored. */
export interface QueuedGroup {
  forBuffer: boolean
  metadata: GroupMetadata
  texts: GroupTexts
}

/** What completing a group says besides its result. */
export interface CompleteGroupParams {
  /** Of the run's settings that it was judged by. */
  revision: number
  task: string
  result: GroupResult
  /** For a group that goes to the buffer. */
  summary: GroupSummary
  /** Its job failed, not its completions: it may be tried again. */
  retriable: boolean
  maxRetainedGroups: number
  curriculumInput: CurriculumInput | undefined
  dump: DumpRecordInput | undefined
}

/** What a group is accepted under. */
export interface AcceptGroupParams {
  /** Of the run's settings that they come from. */
  revision: number
  rollouts: number
  /** Whether it wants to wait for a trainer. */
  wants: boolean
  /** Groups queued, buffered and in open batches; binds those that want to wait. */
  most: number
  /** There is no room for any that is not known. */
  full: boolean
  /** Where its item stands in the run's sequence, if that has it. */
  lease: { position: number; task: string } | undefined
}

export class GroupRepository {
  readonly #redis: Redis
  readonly #keys: GroupKeys

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = createGroupKeys(keys)
  }

  async accept(
    place: GroupRef,
    { metadata: about, texts, arrays, contentHash: hash }: GroupPayload,
    bounds: AcceptGroupParams,
  ): Promise<AcceptGroupResult> {
    const keys = this.#keys.forRun(place.run, place.epoch)
    const ask = { epoch: place.epoch, now: Date.now(), ...bounds }
    const accepted = await acceptGroup(this.#redis, { ...keys, group: keys.group(place.group) }, [
      place.group,
      hash,
      about,
      texts,
      arrays,
      JSON.stringify(ask),
    ])
    return accepted as AcceptGroupResult // the script gives one of these words
  }

  /** Undefined if it was completed before; `changed`, and nothing done, if the settings are no longer of that revision. */
  async complete(
    place: GroupRef,
    completion: CompleteGroupParams,
  ): Promise<CompleteGroupResult | 'changed' | undefined> {
    const {
      revision,
      task,
      result,
      summary: facts,
      retriable,
      maxRetainedGroups: keep,
      curriculumInput: feed,
      dump,
    } = completion
    const dumps = this.#keys.forDumpQueue(place.run, dump?.uuid ?? '')
    const keys = this.#keys.forRun(place.run, place.epoch)
    const { status, destination } = result
    const now = new Date()
    const ask = {
      epoch: place.epoch,
      revision,
      status,
      signal: result.signal ?? false,
      destination: destination ?? undefined,
      retriable,
      task,
      now: now.getTime(),
      time: now.toISOString(),
      counters: buildRunCounters(result),
      sums: buildTaskSums(task, result, facts),
      step_sums: buildStepSums(facts, result),
      version: facts.version ?? undefined,
      share: result.percent_correct ?? undefined,
      rollouts: facts.rollouts,
      scored: facts.scored,
      metrics_prefix: keys.metricSums(''),
      feed,
      dump: dump && { kinds: dump.kinds, bytes: dump.bytes, now: now.getTime(), most: MAX_PENDING_DUMP_BYTES },
      history_max: MAX_HISTORY_POINTS,
      failed_max: MAX_RETRIABLE_GROUPS,
      ...buildRetirementArgs(keys, keep),
    }
    const done = await completeGroup(
      this.#redis,
      {
        ...keys,
        group: keys.group(place.group),
        dumpState: dumps.state,
        pendingRolloutRecords: dumps.pendingRecords('rollouts'),
        pendingFailedRecords: dumps.pendingRecords('failed'),
      },
      [
        ...[place.group, JSON.stringify(result), JSON.stringify(facts), JSON.stringify(ask)],
        ...[this.#keys.groupCompletionChannel, formatGroupPath(place), dump?.record ?? ''],
      ],
    )
    if (done === null) return undefined
    if (done === 'changed') return done
    const [kept, before, after] = done as [CompleteGroupResult['dumpQueueLengths'], string, string] // as the script gives it
    return {
      dumpQueueLengths: kept,
      levelChange: before === '' ? undefined : { before: Number(before), after: Number(after) },
    }
  }

  /** Makes a failed group pending again. False if it has not failed, or its rollouts are no longer kept. */
  async reopen({ run, epoch, group }: GroupRef): Promise<boolean> {
    const keys = this.#keys.forRun(run, epoch)
    const reopened = await reopenGroup(this.#redis, { ...keys, group: keys.group(group) }, [group, Date.now()])
    return reopened === 1
  }

  async get(place: GroupRef): Promise<StoredGroup | undefined> {
    const key = this.#keys.forRun(place.run, place.epoch).group(place.group)
    const fields = ['status', 'wants', 'about', 'result', 'destination'] as const
    const [status, wants, about, result, whither] = await this.#redis.hmget(key, ...fields)
    if (!status) return undefined
    const destination = (whither || null) as Destination | null // written by the scripts, as is all else
    return {
      status: status as StoredGroup['status'],
      forBuffer: wants === '1',
      destination,
      metadata: about ? unpackMetadata(about) : undefined,
      result: result ? { ...(JSON.parse(result) as GroupResult), destination } : undefined,
    }
  }

  /** Undefined if it is done, or no longer kept. */
  async getQueued({ run, epoch, group }: GroupRef): Promise<QueuedGroup | undefined> {
    const key = this.#keys.forRun(run, epoch).group(group)
    const [status, wants, about, texts] = await this.#redis.hmgetBuffer(key, 'status', 'wants', 'about', 'texts')
    if (status?.toString() !== 'queued' || !about || !texts) return undefined
    return { forBuffer: wants?.toString() === '1', metadata: unpackMetadata(about), texts: unpackTexts(texts) }
  }

  /** The groups that are still kept, newest first, completed before `place` in the run's order. */
  async listRecent(
    run: string,
    epoch: number,
    before: number,
    most: number,
  ): Promise<{ group: string; place: number }[]> {
    const key = this.#keys.forRun(run, epoch).recentGroups
    const below = before === Number.POSITIVE_INFINITY ? '+inf' : `(${before}`
    const flat = await this.#redis.zrange(key, below, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, most, 'WITHSCORES')
    return Array.from({ length: flat.length / 2 }, (_, k) => ({
      group: flat[2 * k] ?? '',
      place: Number(flat[2 * k + 1]),
    }))
  }

  /** When the oldest group that is not done was accepted, ms; undefined if there is none. */
  async getOldestPendingTime(run: string, epoch: number): Promise<number | undefined> {
    const [, time] = await this.#redis.zrange(this.#keys.forRun(run, epoch).pendingGroups, '0', '0', 'WITHSCORES')
    return time === undefined ? undefined : Number(time)
  }

  /** Completions and conversations of a group, without its arrays; undefined once they are no longer kept. */
  async getTexts(place: GroupRef): Promise<GroupTexts | undefined> {
    const texts = await this.#redis.hgetBuffer(this.#keys.forRun(place.run, place.epoch).group(place.group), 'texts')
    return texts ? unpackTexts(texts) : undefined
  }

  /** Groups of a run that were accepted before `time` and are not done, oldest first. */
  listPendingAcceptedBefore(run: string, epoch: number, time: number, most: number): Promise<string[]> {
    return this.#redis.zrangebyscore(this.#keys.forRun(run, epoch).pendingGroups, 0, time, 'LIMIT', 0, most)
  }
}

export function formatGroupPath({ run, epoch, group }: GroupRef): string {
  return `${run}/${epoch}/${group}`
}

/** Of the job that scores it; to be read in an address without escapes. */
export function formatScoreJobId({ run, epoch, group }: GroupRef): string {
  return `${run}~${epoch}~${group}`
}

/** What `parts/settle.lua` is told. */
export function buildRetirementArgs(keys: RunGroupKeys, keep: number) {
  return {
    keep,
    keep_bytes: MAX_RETAINED_TEXT_BYTES,
    remembered: DUPLICATE_DETECTION_MS,
    group_prefix: keys.group(''),
  }
}
