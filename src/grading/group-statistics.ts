/**
 * Reduces groups to sums, and sums to metrics. A batch reduces its groups at once. A step and a task add up the sums of
 * their groups in Redis, field by field, and compute the metrics from the totals.
 */
import type { GroupSummary } from '../contract/batch.ts'
import { FormatErrorCode } from '../contract/verdict.ts'
import { TRAINING_CORRECT_THRESHOLD } from './group.ts'
import { formatLengthBucketField, lengthPercentile } from './length-buckets.ts'
import { meanOfSum, populationStdOfSums } from './statistics.ts'

/** Sums by field; a missing field is 0. The field names are stored in Redis. */
export type StatisticSums = Record<string, number>

const MARK_FIELDS: Record<string, string> = { s: 'skipped', m: 'masked', t: 'truncated' }
const FORMAT_ERROR_PREFIX = 'format_error:'

export function formatErrorField(code: string): string {
  return FORMAT_ERROR_PREFIX + code
}

/** The number of rollouts with each format error, by error code. */
export function parseFormatErrorCounts(sums: StatisticSums): Record<string, number> {
  const counts = Object.entries(sums).filter(([field]) => field.startsWith(FORMAT_ERROR_PREFIX))
  return Object.fromEntries(counts.map(([field, count]) => [field.slice(FORMAT_ERROR_PREFIX.length), count]))
}

export function sumGroups(groups: Pick<GroupSummary, 'task' | 'signal' | 'each'>[]): StatisticSums {
  const sums: StatisticSums = {}
  const add = (field: string, amount = 1) => {
    sums[field] = (sums[field] ?? 0) + amount
  }
  for (const { task, signal, each } of groups) {
    const taskFields = { scored: `task_scored:${task}`, reward: `task_reward:${task}` }
    add('groups')
    if (signal) add('signal')
    for (const [reward, score, length, , marks] of each) {
      add('rollouts')
      if (reward === null) add('unscored')
      else {
        add('scored')
        add('reward', reward)
        add('reward_squares', reward ** 2)
        add('score', score ?? 0)
        if ((score ?? 0) >= TRAINING_CORRECT_THRESHOLD) add('correct')
        add(taskFields.scored)
        add(taskFields.reward, reward)
      }
      for (const mark of marks) add(MARK_FIELDS[mark] ?? formatErrorField(mark))
      if (length === null) continue
      add('length_count')
      add('length_sum', length)
      add(formatLengthBucketField(length))
    }
  }
  return sums
}

/**
 * Flat metrics for a logger; a metric without data is null. `reward/std` is computed from a sum of squares, and
 * `length/p95` is accurate to 5 %.
 */
export function computeGroupMetrics(sums: StatisticSums): Record<string, number | null> {
  const sumOf = (field: string) => sums[field] ?? 0
  const meanOf = (field: string, countField: string) => meanOfSum(sumOf(field), sumOf(countField))
  return {
    'reward/mean': meanOf('reward', 'scored'),
    'reward/std': populationStdOfSums(sumOf('reward'), sumOf('reward_squares'), sumOf('scored')),
    'score/mean': meanOf('score', 'scored'),
    'score/frac_correct': meanOf('correct', 'scored'),
    'signal/frac': meanOf('signal', 'groups'),
    'length/mean': meanOf('length_sum', 'length_count'),
    'length/p95': lengthPercentile(sums, 0.95),
    'truncated/frac': meanOf('truncated', 'rollouts'),
    'skipped/frac': meanOf('skipped', 'rollouts'),
    'masked/frac': meanOf('masked', 'rollouts'),
    'unscored/frac': meanOf('unscored', 'rollouts'),
    ...Object.fromEntries(
      FormatErrorCode.options.map((code) => [`fault/${code}`, meanOf(formatErrorField(code), 'rollouts')]),
    ),
    ...computeTaskRewards(sums),
  }
}

function computeTaskRewards(sums: StatisticSums): Record<string, number | null> {
  return Object.fromEntries(
    Object.entries(sums).flatMap(([field, scored]) => {
      const task = /^task_scored:(\w+)$/.exec(field)?.[1]
      return task ? [[`task/${task}/reward`, meanOfSum(sums[`task_reward:${task}`] ?? 0, scored)]] : []
    }),
  )
}

/** Drops the metrics without a value. */
export function omitUnknown(metrics: Record<string, number | null | undefined>): Record<string, number> {
  const known = Object.entries(metrics).filter((entry): entry is [string, number] => typeof entry[1] === 'number')
  return Object.fromEntries(known)
}
