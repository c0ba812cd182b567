/**
 * Groups in Redis: their records in the slot of their run, and their payloads apart. One script accepts a group and another one completes it, so that each accepted group is scored once.
 */

import type { GroupSummary } from '@reasoning-gym-server/contract/batch'
import type { DumpKind } from '@reasoning-gym-server/contract/dump'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { Destination } from '@reasoning-gym-server/contract/rollout'
import type { Redis } from 'ioredis'
import { z } from 'zod'
import type { GroupResult } from '../../grading/group.ts'
import { fleetNow } from '../../platform/redis/fleet-clock.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import type { CurriculumInput } from '../runs/curriculum.ts'
import type { FrontierInput } from '../runs/frontier/frontier-curriculum.ts'
import { type GroupOutcome, OUTCOME_WINDOW, packOutcome } from '../runs/group-outcome.ts'
import { backlogRecord, MAX_HISTORY_POINTS, runRecord, stepSumsRecord, taskSumsRecord } from '../runs/run-record.ts'
import { buildEvidence, formatEvidence, MAX_LEARNABILITY_EVIDENCE } from '../runs/sequence/learnability.ts'
import { dumpStateRecord } from './dump-state-record.ts'
import { buildRunCounters, buildStepSums, buildTaskSums } from './group-counters.ts'
import { type GroupMetadata, type GroupPayload, type GroupTexts, unpackMetadata, unpackTexts } from './group-payload.ts'
import { groupRecord } from './group-record.ts'
import { createGroupKeys, type GroupKeys, type RunGroupKeys } from './keys.ts'
import {
  formatPayload,
  PAYLOAD_EXPIRY_MS,
  PayloadRepository,
  type PayloadRepositoryDeps,
  parsePayload,
  type StoredPayload,
} from './payload-repository.ts'

/** Tables of field names for the scripts. */
const CONSTANTS = {
  RUN: runRecord.constants,
  GROUP: groupRecord.constants,
  BACKLOG: backlogRecord.constants,
  TASK: taskSumsRecord.constants,
  STEP: stepSumsRecord.constants,
  DUMPS: dumpStateRecord.constants,
}

const acceptGroup = defineScript({
  folder: import.meta.dirname,
  name: 'accept-group',
  keys: ['run', 'group', 'pendingGroups', 'buffer', 'backlog', 'leaseExpiries', 'leasedItems', 'allGroups'],
  constants: CONSTANTS,
})
const reopenGroup = defineScript({
  folder: import.meta.dirname,
  name: 'reopen-group',
  keys: ['run', 'group', 'pendingGroups', 'backlog', 'failedGroups', 'recentGroups'],
  constants: CONSTANTS,
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
    'learnability',
    'recentOutcomes',
    'metricSteps',
    'metricBlocks',
    'allGroups',
    'frontierEvidence',
    'releasedPayloads',
  ],
  constants: CONSTANTS,
})

/** Number of times that one post writes a lost payload again. */
const MAX_PAYLOAD_REPAIRS = 2
const DUPLICATE_DETECTION_MS = 24 * 60 * 60 * 1000
/** Limit of the texts of a run's last groups that are kept for readers. */
const MAX_RETAINED_TEXT_BYTES = 64 * 1024 * 1024
/** Limit of a run's groups that can be retried after their jobs failed. */
const MAX_RETRIABLE_GROUPS = 1000
/**
 * Limit of a run's evidence that waits to be folded. The oldest evidence is dropped first. Every completion folds what
 * is there.
 */
const MAX_FRONTIER_EVIDENCE = 10_000
/** Number of groups of a task whose shares of correct rollouts are kept. */
const MAX_RECENT_ACCURACIES = 10

/** Limit of a run's lines that wait for their file. Above it, the run's groups are not dumped. */
const MAX_PENDING_DUMP_BYTES = 512 * 1024 * 1024

/** Identifies a group: its run, the epoch of the run, and the ID of the group in it. */
export interface GroupRef {
  run: string
  epoch: number
  group: string
}

/** A group's line for the dump files that it goes to. */
export interface DumpRecordInput {
  uuid: string
  kinds: DumpKind[]
  /** Size of the line. The record is the compressed line. */
  bytes: number
  record: Buffer
}

/** The effects of a completion. */
export interface CompleteGroupResult {
  /** Number of waiting records, or a rejection because there is no room, for each requested kind of dump. */
  dumpQueueLengths: (number | 'rejected')[]
  /** The level of the task, if the group fed the curriculum. */
  levelChange: { before: number; after: number } | undefined
  /** Whether the group is evidence that waits to be folded. */
  hasFrontierEvidence: boolean
}

export type AcceptGroupResult = 'new' | 'duplicate' | 'conflict' | 'buffer_full' | 'run_changed'

const GroupStatus = z.enum(['queued', 'scored', 'failed'])
type GroupStatus = z.infer<typeof GroupStatus>

/** A stored group. `metadata` and `result` are undefined once the group is no longer kept. */
export interface StoredGroup {
  status: GroupStatus
  destination: Destination | null
  /** Whether the group is to wait for a trainer. */
  forBuffer: boolean
  /** Rewards of its rollouts, once it is completed. They are kept longer than the result. */
  rewards: (number | null)[] | undefined
  metadata: GroupMetadata | undefined
  result: GroupResult | undefined
}

/** A group that waits to be scored. `texts` is undefined if Redis has lost them. */
export interface QueuedGroup {
  forBuffer: boolean
  metadata: GroupMetadata
  texts: GroupTexts | undefined
}

/** Parameters of a completion besides the result. */
export interface CompleteGroupParams {
  /** Revision of the run's settings under which the group was graded. */
  revision: number
  task: string
  /** Difficulty of its item, if it has one. */
  difficulty?: number | null
  result: GroupResult
  /** Summary of a group that goes to the buffer. */
  summary: GroupSummary
  /** Whether the group can be retried because its job failed and not its completions. */
  retriable: boolean
  maxRetainedGroups: number
  curriculumInput: CurriculumInput | undefined
  frontierInput?: FrontierInput | undefined
  dump: DumpRecordInput | undefined
  /** Outcome for the diagnosis of the run. Undefined for a failed group. */
  outcome: GroupOutcome | undefined
}

/** Parameters under which a group is accepted. */
export interface AcceptGroupParams {
  /** Revision of the run's settings that they come from. */
  revision: number
  rollouts: number
  /** Whether the group is to wait for a trainer. */
  forBuffer: boolean
  /** Limit of the groups queued, buffered and in open batches, for groups that are to wait for a trainer. */
  maxGroups: number
  /** Whether the server is full and accepts only duplicates. Then the payload is not written. */
  serverFull: boolean
  /** Position of its item in the run's sequence, if it has one. */
  lease: { position: number; task: string } | undefined
}

export class GroupRepository {
  readonly #redis: Redis
  readonly #keys: GroupKeys
  readonly #payloads: PayloadRepository

  constructor(deps: PayloadRepositoryDeps, payloads = new PayloadRepository(deps)) {
    const { redis, keys } = deps
    this.#redis = redis
    this.#keys = createGroupKeys(keys)
    this.#payloads = payloads
  }

  /**
   * Accepts a group. For a new group or a duplicate that is still needed, the payload does not expire when this returns.
   */
  async accept(ref: GroupRef, group: GroupPayload, params: AcceptGroupParams): Promise<AcceptGroupResult> {
    const written = params.serverFull ? undefined : await this.#payloads.write(ref, group)
    let { kind, payload } = await this.#acceptRecord(ref, group, params, written)
    if (written && kind !== 'new') await this.#payloads.discard(ref, written)
    for (let k = 0; payload && !(await this.#payloads.keep(ref, payload)); k++) {
      // It expired before the group was accepted, or Redis lost it. This post has the same content.
      if (k === MAX_PAYLOAD_REPAIRS) throw lostPayloadError(ref)
      await this.#payloads.write(ref, group, payload.token)
      payload = (await this.#acceptRecord(ref, group, params, undefined)).payload // not needed anymore if retired since
    }
    return kind
  }

  async #acceptRecord(
    ref: GroupRef,
    { metadata, contentHash }: GroupPayload,
    { revision, rollouts, forBuffer, maxGroups, serverFull, lease }: AcceptGroupParams,
    payload: StoredPayload | undefined,
  ): Promise<{ kind: AcceptGroupResult; payload?: StoredPayload | undefined }> {
    const keys = this.#keys.forRun(ref.run, ref.epoch)
    const params = {
      epoch: ref.epoch,
      revision,
      now: fleetNow(),
      rollouts,
      bytes: payload ? payload.textBytes + payload.arrayBytes : 0,
      for_buffer: forBuffer,
      max_groups: maxGroups,
      server_full: serverFull || !payload,
      lease,
    }
    const reply = (await acceptGroup(this.#redis, { ...keys, group: keys.group(ref.group) }, [
      ref.group,
      contentHash,
      metadata,
      payload ? formatPayload(payload) : '',
      JSON.stringify(params),
    ])) as ['duplicate', string] | Exclude<AcceptGroupResult, 'duplicate'> // as the script returns them
    if (Array.isArray(reply)) return { kind: reply[0], payload: reply[1] === '' ? undefined : parsePayload(reply[1]) }
    return { kind: reply, payload: reply === 'new' ? payload : undefined }
  }

  /**
   * Returns undefined if the group was completed before. Returns `run_changed` and does nothing if the settings have
   * another revision.
   */
  async complete(
    ref: GroupRef,
    completion: CompleteGroupParams,
  ): Promise<CompleteGroupResult | 'run_changed' | undefined> {
    const { revision, task, result, summary, retriable, maxRetainedGroups, curriculumInput, frontierInput } = completion
    const { dump, outcome } = completion
    const evidence = outcome && buildEvidence(result.verdicts, outcome.guessFloor ?? 0)
    const dumps = this.#keys.forDumpQueue(ref.run, dump?.uuid ?? '')
    const keys = this.#keys.forRun(ref.run, ref.epoch)
    const { status, destination } = result
    const now = new Date(fleetNow())
    const params = {
      epoch: ref.epoch,
      revision,
      status,
      signal: result.signal ?? false,
      destination: destination ?? undefined,
      rewards: formatRewards(result),
      retriable,
      task,
      now: now.getTime(),
      time: now.toISOString(),
      counters: buildRunCounters(result),
      task_sums: buildTaskSums(task, result, summary),
      step_sums: buildStepSums(summary, result, completion.difficulty),
      policy_version: summary.policy_version ?? undefined,
      percent_correct: result.percent_correct ?? undefined,
      max_accuracies: MAX_RECENT_ACCURACIES,
      learnability: evidence && formatEvidence(evidence),
      max_learnability: MAX_LEARNABILITY_EVIDENCE,
      rollouts: summary.rollouts.length,
      scored: summary.scored,
      metric_sums_prefix: keys.metricSums(''),
      block_sums_prefix: keys.blockSums(''),
      curriculum_input: curriculumInput,
      frontier_input: frontierInput && {
        position: frontierInput.position,
        evidence: JSON.stringify({ time: now.toISOString(), ...frontierInput.evidence }),
        max_evidence: MAX_FRONTIER_EVIDENCE,
      },
      dump: dump && { kinds: dump.kinds, bytes: dump.bytes, now: now.getTime(), max_bytes: MAX_PENDING_DUMP_BYTES },
      max_outcomes: OUTCOME_WINDOW,
      max_history: MAX_HISTORY_POINTS,
      max_retriable: MAX_RETRIABLE_GROUPS,
      ...buildRetirementArgs(keys, maxRetainedGroups),
    }
    const reply = await completeGroup(
      this.#redis,
      {
        ...keys,
        group: keys.group(ref.group),
        dumpState: dumps.state,
        pendingRolloutRecords: dumps.pendingRecords('rollouts'),
        pendingFailedRecords: dumps.pendingRecords('failed'),
      },
      [
        ...[ref.group, JSON.stringify(result), JSON.stringify(summary), JSON.stringify(params)],
        ...[
          this.#keys.groupCompletionChannel,
          formatGroupPath(ref),
          dump?.record ?? '',
          outcome ? packOutcome(outcome) : '',
        ],
      ],
    )
    if (reply === null) return undefined
    if (reply === 'run_changed') return reply
    const [dumpQueueLengths, before, after, hasEvidence, releases] = reply as [
      CompleteGroupResult['dumpQueueLengths'],
      string,
      string,
      number,
      string[],
    ] // as the script returns them
    void this.#payloads.release(ref, releases)
    return {
      dumpQueueLengths,
      hasFrontierEvidence: hasEvidence === 1,
      levelChange: before === '' ? undefined : { before: Number(before), after: Number(after) },
    }
  }

  /**
   * Makes a failed group pending again. Returns false if it has not failed, or its rollouts or its epoch no longer
   * exist.
   */
  async reopen({ run, epoch, group }: GroupRef): Promise<boolean> {
    const keys = this.#keys.forRun(run, epoch)
    const reopened = await reopenGroup(this.#redis, { ...keys, group: keys.group(group) }, [group, fleetNow(), epoch])
    return reopened === 1
  }

  async get({ run, epoch, group }: GroupRef): Promise<StoredGroup | undefined> {
    const key = this.#keys.forRun(run, epoch).group(group)
    const { status: a, for_buffer: b, metadata: c, result: d, destination: e, rewards: f } = groupRecord.constants
    const values = await this.#redis.hmget(key, a, b, c, d, e, f)
    const [status, forBuffer, metadata, result, storedDestination, rewards] = values
    if (!status) return undefined
    const destination = Destination.nullable().parse(storedDestination || null)
    return {
      status: GroupStatus.parse(status),
      forBuffer: forBuffer === '1',
      destination,
      rewards: rewards ? (JSON.parse(rewards) as (number | null)[]) : undefined, // written by complete()
      metadata: metadata ? unpackMetadata(metadata) : undefined,
      result: result ? { ...(JSON.parse(result) as GroupResult), destination } : undefined,
    }
  }

  /**
   * Returns undefined if the group is completed or no longer kept, or if its client may still repeat the post whose texts
   * are missing. Removes the expiry of the payload, because the process that accepted the group may have died before it
   * did so.
   */
  async getQueued(ref: GroupRef): Promise<QueuedGroup | undefined> {
    const record = await this.#readQueuedRecord(ref)
    if (!record) return undefined
    const [texts, isKept] = await Promise.all([
      this.#payloads.getTexts(ref, record.payload),
      this.#payloads.ensureKept(ref, record.payload),
    ])
    if (texts && isKept) return { ...record, texts: unpackTexts(texts) }
    const mayBeRepeated = record.acceptedAt > fleetNow() - PAYLOAD_EXPIRY_MS
    const isQueued = (await this.#readQueuedRecord(ref)) !== undefined // it may have been completed in the meantime
    return isQueued && !mayBeRepeated ? { ...record, texts: undefined } : undefined
  }

  async #readQueuedRecord({ run, epoch, group }: GroupRef) {
    const key = this.#keys.forRun(run, epoch).group(group)
    const { status: a, for_buffer: b, metadata: c, payload: d, accepted_at: e } = groupRecord.constants
    const [status, forBuffer, metadata, payload, acceptedAt] = await this.#redis.hmget(key, a, b, c, d, e)
    if (status !== 'queued' || !metadata || !payload) return undefined
    return {
      forBuffer: forBuffer === '1',
      metadata: unpackMetadata(metadata),
      payload: parsePayload(payload),
      acceptedAt: Number(acceptedAt),
    }
  }

  /** Lists the groups that are still kept and were completed before number `before` of the run, newest first. */
  async listRecent(
    run: string,
    epoch: number,
    before: number,
    limit: number,
  ): Promise<{ group: string; place: number }[]> {
    const key = this.#keys.forRun(run, epoch).recentGroups
    const below = before === Number.POSITIVE_INFINITY ? '+inf' : `(${before}`
    const flat = await this.#redis.zrange(key, below, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, limit, 'WITHSCORES')
    return Array.from({ length: flat.length / 2 }, (_, k) => ({
      group: flat[2 * k] ?? '',
      place: Number(flat[2 * k + 1]),
    }))
  }

  countRecent(run: string, epoch: number): Promise<number> {
    return this.#redis.zcard(this.#keys.forRun(run, epoch).recentGroups)
  }

  /** Returns when the oldest pending group was accepted, in milliseconds, or undefined if no group is pending. */
  async getOldestPendingTime(run: string, epoch: number): Promise<number | undefined> {
    const [, time] = await this.#redis.zrange(this.#keys.forRun(run, epoch).pendingGroups, '0', '0', 'WITHSCORES')
    return time === undefined ? undefined : Number(time)
  }

  /**
   * Returns the completions and conversations of a group, without its arrays, or undefined once they are no longer
   * kept.
   */
  async getTexts(ref: GroupRef): Promise<GroupTexts | undefined> {
    const { run, epoch, group } = ref
    const payload = await this.#redis.hget(this.#keys.forRun(run, epoch).group(group), groupRecord.constants.payload)
    const texts = payload === null ? null : await this.#payloads.getTexts(ref, parsePayload(payload))
    return texts ? unpackTexts(texts) : undefined
  }

  /** Lists the pending groups of a run that were accepted before `time`, oldest first. */
  listPendingAcceptedBefore(run: string, epoch: number, time: number, limit: number): Promise<string[]> {
    return this.#redis.zrangebyscore(this.#keys.forRun(run, epoch).pendingGroups, 0, time, 'LIMIT', 0, limit)
  }
}

/**
 * Returns an empty text for a group that failed as a whole, because fewer rewards than rollouts would mislead a
 * trainer.
 */
function formatRewards({ verdicts }: GroupResult): string {
  return verdicts.length === 0 ? '' : JSON.stringify(verdicts.map(({ reward }) => reward))
}

export function lostPayloadError({ group }: GroupRef): ServiceError {
  return new ServiceError(
    'redis_unavailable',
    `Redis has lost the texts of the group ${group}, which can happen in a failover. Post it again.`,
  )
}

export function formatGroupPath({ run, epoch, group }: GroupRef): string {
  return `${run}/${epoch}/${group}`
}

/** Returns the ID of the job that scores the group. It needs no escapes in a URL. */
export function formatScoreJobId({ run, epoch, group }: GroupRef): string {
  return `${run}~${epoch}~${group}`
}

/** Builds the limits of parts/retire-group.lua. */
export function buildRetirementArgs(keys: RunGroupKeys, maxRetainedGroups: number) {
  return {
    max_retained_groups: maxRetainedGroups,
    max_retained_bytes: MAX_RETAINED_TEXT_BYTES,
    duplicate_detection_ms: DUPLICATE_DETECTION_MS,
    group_key_prefix: keys.group(''),
  }
}
