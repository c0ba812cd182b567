/** The stored fields of a run, of the sums of its tasks and steps, and of its backlog. */
import { z } from 'zod'
import { SettingsChange } from '../../contract/run.ts'
import { LENGTH_BUCKET_PREFIX } from '../../grading/length-buckets.ts'
import { RecordDeclaration } from '../../platform/redis/record.ts'

const TASK_NAME = /^\w{1,100}$/
const FORMAT_ERROR = /^\w{1,100}$/
const LENGTH_BUCKET = /^\d{1,4}$/

const COUNTER = { kind: 'counter', metric: true, checkpoint: true } as const
const TIMESTAMP = { kind: 'timestamp', checkpoint: true } as const
const FORMAT_ERRORS = { kind: 'counters', prefix: 'format_error:', names: FORMAT_ERROR, checkpoint: true } as const
const SUM = { kind: 'sum', checkpoint: true } as const

export const runRecord = new RecordDeclaration({
  uuid: { kind: 'text' },
  origin: { kind: 'text' },
  epoch: { kind: 'cursor' },
  revision: { kind: 'cursor' },
  created_at: { kind: 'timestamp' },
  settings: { kind: 'json', schema: SettingsChange },
  /** Next position of the sequence that was never opened. */
  position: { kind: 'cursor', metric: true },
  prefetch_target: { ...COUNTER, kind: 'cursor' },
  /** Highest step that a batch was composed for. */
  step: { kind: 'cursor', checkpoint: true },
  items: COUNTER,
  skipped_positions: COUNTER,
  groups: COUNTER,
  rollouts: COUNTER,
  completed: COUNTER,
  scored_groups: COUNTER,
  failed_groups: COUNTER,
  unscored: COUNTER,
  no_signal_easy: COUNTER,
  no_signal_hard: COUNTER,
  masked_groups: COUNTER,
  skipped_groups: COUNTER,
  stale_groups: COUNTER,
  batches: COUNTER,
  groups_since_scored: COUNTER,
  groups_since_signal: COUNTER,
  format_errors: { ...FORMAT_ERRORS, metric: true },
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
const MARKS_AND_LENGTHS = {
  length_count: COUNT,
  length_sum: SUM,
  /** Lengths by the number of their bucket (grading/length-buckets.ts). */
  length_buckets: { kind: 'counters', prefix: LENGTH_BUCKET_PREFIX, names: LENGTH_BUCKET, checkpoint: true },
  skipped: COUNT,
  masked: COUNT,
  truncated: COUNT,
  format_errors: FORMAT_ERRORS,
} as const

/** Sums of one task of a run; stored as `TASK:FIELD` in one hash. */
export const taskSumsRecord = new RecordDeclaration({
  groups: COUNT,
  /** Scored rollouts. */
  rollouts: COUNT,
  score: SUM,
  reward: SUM,
  signal: COUNT,
  ...MARKS_AND_LENGTHS,
  last_completed_at: TIMESTAMP,
})

/** Sums of the groups that were completed for one training step. */
export const stepSumsRecord = new RecordDeclaration({
  groups: COUNT,
  rollouts: COUNT,
  scored: COUNT,
  unscored: COUNT,
  score: SUM,
  reward: SUM,
  reward_squares: SUM,
  correct: COUNT,
  signal: COUNT,
  all_correct: COUNT,
  all_wrong: COUNT,
  lag_count: COUNT,
  lag_sum: COUNT,
  ...MARKS_AND_LENGTHS,
  task_scored: { kind: 'counters', prefix: 'task_scored:', names: TASK_NAME, checkpoint: true },
  task_reward: { kind: 'sums', prefix: 'task_reward:', names: TASK_NAME, checkpoint: true },
})

/** What is queued, buffered and in open batches. */
export const backlogRecord = new RecordDeclaration({
  queued_groups: { kind: 'counter' },
  queued_rollouts: { kind: 'counter' },
  buffered_rollouts: { kind: 'counter' },
  buffered_scored_rollouts: { kind: 'counter' },
  open_batch_groups: { kind: 'counter' },
  /** Of the payloads of all these. */
  bytes: { kind: 'counter' },
  /** Of the texts that are kept after their groups were delivered or dropped. */
  retained_bytes: { kind: 'counter' },
  /** Every step below it was acknowledged, or never composed. */
  acknowledged_below: { kind: 'cursor' },
})

const StoredNumber = z.coerce.number()

/** The curriculum of a task: Lua writes its numbers as text of 17 digits, and an empty list as an object. */
export const CurriculumState = z.object({
  level: StoredNumber,
  accuracy: StoredNumber.optional(),
  scores: z.union([z.array(StoredNumber), z.strictObject({}).transform((): number[] => [])]),
})
export type CurriculumState = z.infer<typeof CurriculumState>

/** As the scripts write it. */
export function formatCurriculumState({ level, accuracy, scores }: CurriculumState): string {
  return JSON.stringify({ level: String(level), accuracy: accuracy?.toString(), scores: scores.map(String) })
}
