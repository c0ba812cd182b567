/** What a completed group adds to the figures of its run and its task. */

import type { GroupSummary } from '../../contract/batch.ts'
import { type GroupResult, TRAINING_CORRECT_THRESHOLD } from '../../grading/group.ts'
import { formatLengthBucketField } from '../../grading/length-buckets.ts'

/** Whole numbers of the run, by name. */
export function buildRunCounters(result: GroupResult): Record<string, number> {
  const { status, verdicts, destination } = result
  const counters: Record<string, number> = { [`${status}_groups`]: 1 }
  const add = (name: string) => {
    counters[name] = (counters[name] ?? 0) + 1
  }
  const dull = classifyMissingSignal(result)
  if (destination === 'no_signal' && dull) add(dull === 'masked' ? 'masked_groups' : `no_signal_${dull}`)
  if (destination === 'skipped') add('skipped_groups')
  for (const verdict of verdicts) {
    if (verdict.status === 'unscored') add('unscored')
    else if (verdict.fault) add(`format_error:${verdict.fault}`)
  }
  return counters
}

/** Why a group has no signal; `masked`: nobody votes, so that it is neither easy nor hard. */
function classifyMissingSignal({
  signal,
  voters = 0,
  mean_score,
}: GroupResult): 'easy' | 'hard' | 'masked' | undefined {
  if (signal) return undefined
  if (voters === 0) return 'masked'
  return (mean_score ?? 0) >= TRAINING_CORRECT_THRESHOLD ? 'easy' : 'hard'
}

/** Sums of the task, by field. A group that failed tells nothing of its task, and may be scored yet. */
export function buildTaskSums(
  task: string,
  { status, verdicts, signal }: GroupResult,
  facts: GroupSummary,
): Record<string, number> {
  if (status === 'failed') return {}
  const scored = verdicts.filter((verdict) => verdict.status === 'scored')
  const sum = (field: 'score' | 'reward') => scored.reduce((total, verdict) => total + verdict[field], 0)
  return prefixWithTask(task, {
    groups: 1,
    rollouts: scored.length,
    score: sum('score'),
    reward: sum('reward'),
    signal: signal ? 1 : 0,
    ...sumLengthsAndMarks(facts),
  })
}

/** Sums of the step in which the group was completed, by field. */
export function buildStepSums(facts: GroupSummary, result: GroupResult): Record<string, number> {
  const { task, each, signal } = facts
  const scored = each.filter(([reward]) => reward !== null)
  const sum = (of: 0 | 1) => scored.reduce((total, rollout) => total + (rollout[of] ?? 0), 0)
  const dull = classifyMissingSignal(result)
  return omitZeros({
    groups: 1,
    rollouts: each.length,
    scored: scored.length,
    reward: sum(0),
    reward_squares: scored.reduce((total, [reward]) => total + (reward ?? 0) ** 2, 0),
    score: sum(1),
    correct: scored.filter(([, score]) => (score ?? 0) >= TRAINING_CORRECT_THRESHOLD).length,
    signal: signal ? 1 : 0,
    all_correct: dull === 'easy' ? 1 : 0,
    all_wrong: dull === 'hard' ? 1 : 0,
    unscored: each.length - scored.length,
    ...sumLengthsAndMarks(facts),
    [`task_scored:${task}`]: scored.length,
    [`task_reward:${task}`]: sum(0),
  })
}

/** Lengths, and rollouts by their marks; what is 0 is left out. */
function sumLengthsAndMarks({ each }: GroupSummary): Record<string, number> {
  const sums: Record<string, number> = {}
  const add = (field: string, amount = 1) => {
    sums[field] = (sums[field] ?? 0) + amount
  }
  for (const [, , length, , marks] of each) {
    for (const mark of marks) add(MARK_FIELDS[mark] ?? `format_error:${mark}`)
    if (length === null) continue
    add('length_count')
    add('length_sum', length)
    add(formatLengthBucketField(length))
  }
  return sums
}

const MARK_FIELDS: Record<string, string> = { s: 'skipped', m: 'masked', t: 'truncated' }

function prefixWithTask(task: string, sums: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(omitZeros(sums)).map(([field, amount]) => [`${task}:${field}`, amount]))
}

/** A field that is not there counts as 0: what adds nothing need not be told to Redis, one command each. */
function omitZeros(sums: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(sums).filter(([, amount]) => amount !== 0))
}
