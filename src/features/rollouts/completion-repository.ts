/**
 * Completes groups in Redis: one script stores the results and updates buffer, counters, curriculum, statistics and dumps,
 * so that each accepted group is completed once. Groups of a run that are graded at about the same time share a script.
 */

import type { GroupSummary } from '@reasoning-gym-server/contract/batch'
import type { DumpKind } from '@reasoning-gym-server/contract/dump'
import type { Redis } from 'ioredis'
import type { GroupResult } from '../../grading/group-advantages.ts'
import { batchCalls } from '../../platform/batch-calls.ts'
import type { Platform } from '../../platform/platform.ts'
import { formatChannel } from '../../platform/redis/notifications.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import type { CurriculumInput } from '../runs/curriculum/curriculum-input.ts'
import type { FrontierInput } from '../runs/curriculum/frontier-curriculum.ts'
import { type GroupOutcome, OUTCOME_WINDOW, packOutcome } from '../runs/diagnosis/group-outcome.ts'
import { backlogRecord, MAX_HISTORY_POINTS, runRecord } from '../runs/records.ts'
import { buildEvidence, formatEvidence, MAX_LEARNABILITY_EVIDENCE } from '../runs/sequence/learnability.ts'
import { sumsRecord } from '../runs/sums.ts'
import { buildGroupSums, buildRunCounters } from './group-counters.ts'
import {
  buildRetirementArgs,
  createGroupKeys,
  dumpStateRecord,
  formatGroupPath,
  type GroupKeys,
  type GroupRef,
  groupRecord,
} from './records.ts'

const completeGroups = defineScript(import.meta.dirname, 'complete-groups', {
  RUN: runRecord.constants,
  GROUP: groupRecord.constants,
  BACKLOG: backlogRecord.constants,
  SUMS: sumsRecord.constants,
  DUMPS: dumpStateRecord.constants,
})

/** Limit of groups that share a script, which takes about 0.1 ms for each. */
const MAX_GROUPS_PER_SCRIPT = 32
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

/** A group's line for the dump files that it goes to. */
export interface DumpRecordInput {
  uuid: string
  kinds: DumpKind[]
  /** Size of the line. The record is the compressed line. */
  bytes: number
  record: Buffer
}

/** A graded group, and what its completion adds to its run. */
export interface CompleteGroupParams {
  /** Revision of the run's settings under which the group was graded. */
  revision: number
  /** Hash of the content that was graded. Another group of the same ID is not completed. */
  contentHash?: string | undefined
  task: string
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

export interface CompleteGroupResult {
  /** Number of waiting records, or a rejection because there is no room, for each requested kind of dump. */
  dumpQueueLengths: (number | 'rejected')[]
  /** The level of the task, if the group fed the curriculum. */
  levelChange: { before: number; after: number } | undefined
  /** Whether the group is evidence that waits to be folded. */
  hasFrontierEvidence: boolean
}

interface GroupCompletion {
  ref: GroupRef
  completion: CompleteGroupParams
}
type CompletionReply = CompleteGroupResult | 'run_changed' | undefined

export class CompletionRepository {
  readonly #redis: Redis
  readonly #keys: GroupKeys
  readonly #channel: string
  readonly #completeInBatch = batchCalls((calls: GroupCompletion[]) => this.#completeAll(calls), {
    keyOf: ({ ref: { run, epoch }, completion: { revision, dump } }) => [run, epoch, revision, dump?.uuid].join('/'),
    maxCalls: MAX_GROUPS_PER_SCRIPT,
  })

  constructor({ redis, keys }: Pick<Platform, 'redis' | 'keys'>) {
    this.#redis = redis
    this.#keys = createGroupKeys(keys)
    this.#channel = formatChannel(keys)
  }

  /**
   * Returns undefined if the group was completed before. Returns `run_changed` and does nothing if the settings have
   * another revision.
   */
  complete(ref: GroupRef, completion: CompleteGroupParams): Promise<CompletionReply> {
    return this.#completeInBatch({ ref, completion })
  }

  /** The groups are of one revision of a run. */
  async #completeAll(calls: GroupCompletion[]): Promise<CompletionReply[]> {
    const [first] = calls
    if (!first) return []
    const { ref, completion } = first
    const keys = this.#keys.forRun(ref.run, ref.epoch)
    const dumps = this.#keys.forDumpQueue(ref.run, completion.dump?.uuid ?? '')
    const now = new Date(redisNow())
    const params = {
      channel: this.#channel,
      epoch: ref.epoch,
      revision: completion.revision,
      now: now.getTime(),
      time: now.toISOString(),
      max_accuracies: MAX_RECENT_ACCURACIES,
      max_learnability: MAX_LEARNABILITY_EVIDENCE,
      max_outcomes: OUTCOME_WINDOW,
      max_history: MAX_HISTORY_POINTS,
      max_retriable: MAX_RETRIABLE_GROUPS,
      step_state_prefix: keys.stepState(''),
      ...buildRetirementArgs(keys, completion.maxRetainedGroups),
      groups: calls.map((call) => buildGroupArgs(call, now)),
    }
    const reply = await completeGroups(
      this.#redis,
      {
        ...keys,
        dumpState: dumps.state,
        pendingRolloutRecords: dumps.pendingRecords('rollouts'),
        pendingFailedRecords: dumps.pendingRecords('failed'),
      },
      [JSON.stringify(params), ...calls.flatMap(({ completion: of }) => buildBlobArgs(of))],
    )
    if (reply === null) return calls.map(() => undefined)
    if (reply === 'run_changed') return calls.map(() => reply)
    const replies = reply as (GroupReply | null)[] // as the script returns them
    return replies.map((of) => (of === null ? undefined : parseReply(of)))
  }
}

type GroupReply = [CompleteGroupResult['dumpQueueLengths'], before: string, after: string, hasEvidence: number]

function parseReply([dumpQueueLengths, before, after, hasEvidence]: GroupReply): CompleteGroupResult {
  return {
    dumpQueueLengths,
    hasFrontierEvidence: hasEvidence === 1,
    levelChange: before === '' ? undefined : { before: Number(before), after: Number(after) },
  }
}

/** What the script stores as it is. */
function buildBlobArgs({ result, summary, dump, outcome }: CompleteGroupParams): (string | Buffer)[] {
  return [JSON.stringify(result), JSON.stringify(summary), dump?.record ?? '', outcome ? packOutcome(outcome) : '']
}

/** Builds what the script reads of a group. */
function buildGroupArgs({ ref, completion }: GroupCompletion, now: Date) {
  const { task, result, summary, retriable, curriculumInput, frontierInput, dump, outcome } = completion
  const evidence = outcome && buildEvidence(result.verdicts, outcome.guessFloor ?? 0)
  return {
    id: ref.group,
    content_hash: completion.contentHash,
    message: formatGroupPath(ref),
    status: result.status,
    signal: result.signal ?? false,
    destination: result.destination ?? undefined,
    // none for a group that failed as a whole, because fewer rewards than rollouts would mislead a trainer
    rewards: result.verdicts.length === 0 ? '' : JSON.stringify(result.verdicts.map(({ reward }) => reward)),
    mean_reward: result.mean_reward == null ? '' : String(result.mean_reward),
    retriable,
    task,
    counters: buildRunCounters(result, summary),
    sums: result.status === 'scored' ? buildGroupSums(summary, result) : {},
    policy_version: summary.policy_version ?? undefined,
    percent_correct: result.percent_correct ?? undefined,
    learnability: evidence && formatEvidence(evidence),
    rollouts: summary.rollouts.length,
    scored: summary.scored,
    curriculum_input: curriculumInput,
    frontier_input: frontierInput && {
      position: frontierInput.position,
      evidence: JSON.stringify({ time: now.toISOString(), ...frontierInput.evidence }),
      max_evidence: MAX_FRONTIER_EVIDENCE,
    },
    dump: dump && { kinds: dump.kinds, bytes: dump.bytes, now: now.getTime(), max_bytes: MAX_PENDING_DUMP_BYTES },
  }
}
