/** Computes what a completed group adds to the counters of its run and to the sums of its task and step. */
import type { GroupSummary } from '@reasoning-gym-server/contract/batch'
import { type GroupResult, TRAINING_CORRECT_THRESHOLD } from '../../grading/group.ts'
import { formatErrorField, type StatisticSums, sumGroups } from '../../grading/group-statistics.ts'
import { stepSumsRecord, taskSumsRecord } from '../runs/run-record.ts'

/** Builds the run's integer counters, by name. */
export function buildRunCounters(result: GroupResult): Record<string, number> {
  const { status, verdicts, destination } = result
  const counters: Record<string, number> = { [`${status}_groups`]: 1 }
  const add = (name: string) => {
    counters[name] = (counters[name] ?? 0) + 1
  }
  const reason = classifyMissingSignal(result)
  if (destination === 'skipped') add('skipped_groups')
  else if (status === 'scored' && reason) add(NO_SIGNAL_COUNTERS[reason])
  for (const verdict of verdicts) {
    if (verdict.status === 'unscored') add('unscored')
    else if (verdict.fault) add(formatErrorField(verdict.fault))
  }
  return counters
}

export type MissingSignalReason = 'easy' | 'hard' | 'masked' | 'lone_voter'

const NO_SIGNAL_COUNTERS = {
  easy: 'no_signal_easy',
  hard: 'no_signal_hard',
  masked: 'masked_groups',
  lone_voter: 'lone_voter_groups',
} as const satisfies Record<MissingSignalReason, string>

/**
 * Returns the reason why a group has no signal, or undefined if it has one. With no voter, or only one, it is neither
 * easy nor hard.
 */
export function classifyMissingSignal({
  signal,
  voters = 0,
  mean_score,
}: GroupResult): MissingSignalReason | undefined {
  if (signal) return undefined
  if (voters === 0) return 'masked'
  if (voters === 1) return 'lone_voter'
  return (mean_score ?? 0) >= TRAINING_CORRECT_THRESHOLD ? 'easy' : 'hard'
}

/**
 * Builds the sums of the task, by field. `rollouts` counts those with a score; `score` excludes skipped ones, as in a
 * group's mean score. A failed group is left out, because it may still be scored.
 */
export function buildTaskSums(task: string, { status }: GroupResult, summary: GroupSummary): StatisticSums {
  if (status === 'failed') return {}
  const sums = sumGroups([summary])
  const { scored = 0 } = sums
  const counted = sumGroups([
    { ...summary, rollouts: summary.rollouts.filter(([, , , , marks]) => !marks.includes('s')) },
  ])
  const taskSums = {
    ...sums,
    rollouts: scored,
    score: counted.score ?? 0,
    skipped_scored: scored - (counted.scored ?? 0),
  }
  const kept = Object.entries(omitZeros(taskSums)).filter(([field]) => taskSumsRecord.hasField(field))
  return Object.fromEntries(kept.map(([field, amount]) => [`${task}:${field}`, amount]))
}

/** Builds the sums of the step in which the group was completed, by field. `difficulty` is that of its item, if it has one. */
export function buildStepSums(
  summary: GroupSummary,
  result: GroupResult,
  difficulty: number | null = null,
): StatisticSums {
  const reason = classifyMissingSignal(result)
  const { task_difficulty, task_difficulty_count } = stepSumsRecord.constants
  return omitZeros({
    ...sumGroups([summary]),
    ...(difficulty !== null && {
      [task_difficulty + summary.task]: difficulty,
      [task_difficulty_count + summary.task]: 1,
    }),
    all_correct: reason === 'easy' ? 1 : 0,
    all_wrong: reason === 'hard' ? 1 : 0,
  })
}

/** Leaves out zeros. A missing field counts as 0, and every field that is sent costs one Redis command. */
function omitZeros(sums: StatisticSums): StatisticSums {
  return Object.fromEntries(Object.entries(sums).filter(([, amount]) => amount !== 0))
}
