/** The stored fields of a run, of the sums of its tasks and steps, and of its backlog. */

import { FrontierEstimate } from '@reasoning-gym-server/contract/run'
import { SettingsChange } from '@reasoning-gym-server/contract/run-settings'
import { z } from 'zod'
import { GROUP_SUMS } from '../../grading/group-sums.ts'
import { RecordDeclaration } from '../../platform/redis/record.ts'

const COUNTER = { kind: 'counter', metric: true, checkpoint: true } as const
const TIMESTAMP = { kind: 'timestamp', checkpoint: true } as const

export const runRecord = new RecordDeclaration({
  uuid: { kind: 'text' },
  epoch: { kind: 'cursor' },
  revision: { kind: 'cursor' },
  created_at: { kind: 'timestamp' },
  /**
   * Time of the last PUT of settings or restored checkpoint. If absent, the first call that used the run created it.
   */
  configured_at: { kind: 'timestamp' },
  /** When a process noticed that Redis had lost the run and that it was created again. */
  recreated_at: { kind: 'timestamp' },
  /** Absent: active. A run that accepted a group after `lifecycle_at` is active as well. */
  lifecycle: { kind: 'text', schema: z.enum(['finished', 'archived']) },
  lifecycle_at: { kind: 'timestamp' },
  settings: { kind: 'json', schema: SettingsChange },
  /** First position of the sequence that was never opened. */
  position: { kind: 'cursor', metric: true },
  /** First position after all that were requested by number. */
  requested_end: { kind: 'cursor' },
  prefetch_target: { ...COUNTER, kind: 'cursor' },
  /**
   * Number of pieces of evidence that have left the list `frontierEvidence`: folded, or dropped because the list was
   * full.
   */
  folded_evidence: { kind: 'cursor' },
  /** Highest step that a batch was composed for. */
  step: { kind: 'cursor', checkpoint: true },
  items: COUNTER,
  skipped_positions: COUNTER,
  /** Skipped positions whose seeds all give a question of a frozen suite. */
  skipped_eval_items: COUNTER,
  /** Seeds that a position passed over because the question belongs to a frozen suite or was asked before. */
  passed_over_eval_items: COUNTER,
  passed_over_repeats: COUNTER,
  /** Items whose question was asked before, because no seed of their position gives another one. */
  repeated_items: COUNTER,
  groups: COUNTER,
  rollouts: COUNTER,
  completed: COUNTER,
  scored_groups: COUNTER,
  failed_groups: COUNTER,
  unscored: COUNTER,
  no_signal_easy: COUNTER,
  no_signal_hard: COUNTER,
  masked_groups: COUNTER,
  lone_voter_groups: COUNTER,
  skipped_groups: COUNTER,
  stale_groups: COUNTER,
  batches: COUNTER,
  groups_since_scored: COUNTER,
  groups_since_signal: COUNTER,
  format_errors: { ...GROUP_SUMS.format_errors, metric: true, checkpoint: true },
  last_accepted_at: TIMESTAMP,
  last_scored_at: TIMESTAMP,
  last_signal_at: TIMESTAMP,
  last_batch_at: TIMESTAMP,
  last_batch_request_at: TIMESTAMP,
  /** Groups that the last request for a batch dropped because they were too old. */
  last_request_stale_groups: { kind: 'counter', checkpoint: true },
})
export type RunValues = ReturnType<typeof runRecord.parse>

const COUNT = { kind: 'counter', checkpoint: true } as const
const TASK_NAME = /^\w{1,100}$/
const {
  scored,
  unscored,
  reward_squares,
  correct,
  task_scored,
  task_reward,
  task_score,
  task_correct,
  outcomes,
  reward_bins,
  correct_lengths,
  wrong_lengths,
  ...taskSums
} = GROUP_SUMS

/**
 * Sums of one task of a run, stored as `TASK:FIELD` in one hash. `rollouts` counts those with a score; `score` excludes
 * skipped ones. Sums stored before `skipped_scored` existed include skipped rollouts in both.
 */
export const taskSumsRecord = new RecordDeclaration({
  ...addToCheckpoint(taskSums),
  /** How many of `rollouts` are skipped. */
  skipped_scored: COUNT,
  last_completed_at: TIMESTAMP,
})

/** Sums of the groups that were completed for one training step. */
export const stepSumsRecord = new RecordDeclaration({
  ...addToCheckpoint(taskSums),
  ...addToCheckpoint({ scored, unscored, reward_squares, correct, task_scored, task_reward, task_score, task_correct }),
  ...addToCheckpoint({ outcomes, reward_bins, correct_lengths, wrong_lengths }),
  /** By task: the sum of the difficulties of its groups, and how many groups have one. */
  task_difficulty: { kind: 'sums', prefix: 'task_difficulty:', names: TASK_NAME, checkpoint: true },
  task_difficulty_count: { kind: 'counters', prefix: 'task_difficulty_count:', names: TASK_NAME, checkpoint: true },
  /** Only in the sums of a block of groups. */
  last_completed_at: TIMESTAMP,
  all_correct: COUNT,
  all_wrong: COUNT,
  lag_count: COUNT,
  lag_sum: COUNT,
})

/** Counts of what is queued, buffered and in open batches. */
export const backlogRecord = new RecordDeclaration({
  queued_groups: { kind: 'counter' },
  queued_rollouts: { kind: 'counter' },
  buffered_rollouts: { kind: 'counter' },
  buffered_scored_rollouts: { kind: 'counter' },
  open_batch_groups: { kind: 'counter' },
  /** Payload size of all of these. */
  bytes: { kind: 'counter' },
  /** Size of the texts that are kept after their groups were delivered or dropped. */
  retained_bytes: { kind: 'counter' },
  /** Every step below this one was acknowledged or never composed. */
  acknowledged_below: { kind: 'cursor' },
})

const StoredNumber = z.coerce.number()

/** Limit of points in a run's curriculum history. Older points are dropped. */
export const MAX_HISTORY_POINTS = 100_000

/** The curriculum of a task. Lua writes its numbers as text with 17 digits, and an empty list as an object. */
export const CurriculumState = z.object({
  level: StoredNumber,
  accuracy: StoredNumber.optional(),
  scores: z.union([z.array(StoredNumber), z.strictObject({}).transform((): number[] => [])]),
  /** Estimate under `frontier`, once a group has counted. */
  frontier: FrontierEstimate.optional(),
})
export type CurriculumState = z.infer<typeof CurriculumState>

/** Formats the state as the scripts do. */
export function formatCurriculumState({ level, accuracy, scores, frontier }: CurriculumState): string {
  return JSON.stringify({
    level: String(level),
    accuracy: accuracy?.toString(),
    scores: scores.map(String),
    frontier,
  })
}

function addToCheckpoint<const F extends Record<string, object>>(fields: F) {
  const entries = Object.entries(fields).map(([name, field]) => [name, { ...field, checkpoint: true }])
  return Object.fromEntries(entries) as { [N in keyof F]: F[N] & { checkpoint: true } } // keeps the type of each entry
}
