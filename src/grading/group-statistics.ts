/**
 * Reduces groups to sums, and sums to metrics. A batch reduces its groups at once. A step and a task add up the sums of
 * their groups in Redis, field by field, and compute the metrics from the totals.
 */
import type { GroupSummary } from '@reasoning-gym-server/contract/batch'
import { FormatErrorCode } from '@reasoning-gym-server/contract/verdict'
import { getLengthBin, getRewardBin } from './distributions.ts'
import { TRAINING_CORRECT_THRESHOLD } from './group.ts'
import { formatSumField, listSums, type SumField } from './group-sums.ts'
import { formatLengthBucketField, lengthPercentile } from './length-buckets.ts'
import { computePassAtK, formatOutcomeField } from './pass-at-k.ts'
import { meanOfSum, populationStdOfSums } from './statistics.ts'

/** Sums by field (group-sums.ts); a missing field is 0. */
export type StatisticSums = Record<string, number>

const MARK_FIELDS: Record<string, SumField> = { s: 'skipped', m: 'masked', t: 'truncated' }

export function formatErrorField(code: string): string {
  return formatSumField('format_errors', code)
}

/** The number of rollouts with each format error, by error code. */
export function parseFormatErrorCounts(sums: StatisticSums): Record<string, number> {
  return Object.fromEntries(listSums('format_errors', sums))
}

export function sumGroups(groups: Pick<GroupSummary, 'task' | 'signal' | 'rollouts'>[]): StatisticSums {
  const sums: StatisticSums = {}
  const addTo = (field: string, amount = 1) => {
    sums[field] = (sums[field] ?? 0) + amount
  }
  const add: (field: SumField, amount?: number) => void = addTo
  for (const { task, signal, rollouts } of groups) {
    const taskFields = {
      scored: formatSumField('task_scored', task),
      reward: formatSumField('task_reward', task),
      score: formatSumField('task_score', task),
      correct: formatSumField('task_correct', task),
    }
    const outcome = { scored: 0, correct: 0 }
    add('groups')
    if (signal) add('signal')
    for (const [reward, score, length, , marks] of rollouts) {
      add('rollouts')
      if (reward === null) add('unscored')
      else {
        add('scored')
        add('reward', reward)
        add('reward_squares', reward ** 2)
        add('score', score ?? 0)
        addTo(taskFields.scored)
        addTo(taskFields.reward, reward)
        addTo(taskFields.score, score ?? 0)
        addTo(formatSumField('reward_bins', getRewardBin(reward)))
        const isCorrect = (score ?? 0) >= TRAINING_CORRECT_THRESHOLD
        if (length !== null)
          addTo(formatSumField(isCorrect ? 'correct_lengths' : 'wrong_lengths', getLengthBin(length)))
        outcome.scored++
        if (isCorrect) {
          outcome.correct++
          add('correct')
          addTo(taskFields.correct)
        }
      }
      for (const mark of marks) addTo(MARK_FIELDS[mark] ?? formatErrorField(mark))
      if (length === null) continue
      add('length_count')
      add('length_sum', length)
      addTo(formatLengthBucketField(length))
    }
    if (outcome.scored > 1) addTo(formatOutcomeField(outcome))
  }
  return sums
}

/**
 * Flat metrics for a logger; a metric without data is null. `reward/std` is computed from a sum of squares, and
 * `length/p95` is accurate to 5%.
 */
export function computeGroupMetrics(sums: StatisticSums): Record<string, number | null> {
  const sumOf = (field: SumField) => sums[field] ?? 0
  const meanOf = (field: SumField, countField: SumField) => meanOfSum(sumOf(field), sumOf(countField))
  const formatErrors = parseFormatErrorCounts(sums)
  return {
    'reward/mean': meanOf('reward', 'scored'),
    'reward/std': populationStdOfSums(sumOf('reward'), sumOf('reward_squares'), sumOf('scored')),
    'score/mean': meanOf('score', 'scored'),
    'score/frac_correct': meanOf('correct', 'scored'),
    ...computePassAtK(sums),
    'signal/frac': meanOf('signal', 'groups'),
    'length/mean': meanOf('length_sum', 'length_count'),
    'length/p95': lengthPercentile(sums, 0.95),
    'truncated/frac': meanOf('truncated', 'rollouts'),
    'skipped/frac': meanOf('skipped', 'rollouts'),
    'masked/frac': meanOf('masked', 'rollouts'),
    'unscored/frac': meanOf('unscored', 'rollouts'),
    ...Object.fromEntries(
      FormatErrorCode.options.map((code) => [`fault/${code}`, meanOfSum(formatErrors[code] ?? 0, sumOf('rollouts'))]),
    ),
    ...computeTaskRewards(sums),
  }
}

function computeTaskRewards(sums: StatisticSums): Record<string, number | null> {
  return Object.fromEntries(
    listSums('task_scored', sums).map(([task, scored]) => [
      `task/${task}/reward`,
      meanOfSum(sums[formatSumField('task_reward', task)] ?? 0, scored),
    ]),
  )
}

/** Drops the metrics without a value. */
export function omitUnknown(metrics: Record<string, number | null | undefined>): Record<string, number> {
  const known = Object.entries(metrics).filter((entry): entry is [string, number] => typeof entry[1] === 'number')
  return Object.fromEntries(known)
}
