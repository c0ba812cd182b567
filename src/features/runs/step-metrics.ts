/** From the sums of a step to flat figures for a logger; a figure that nothing is known for is left out. */

import { FormatErrorCode } from '../../contract/verdict.ts'
import { lengthPercentile } from '../../grading/length-buckets.ts'

export function computeStepMetrics(step: number, sums: Record<string, number>): Record<string, number> {
  const of = (field: string) => sums[field] ?? 0
  const mean = (field: string, count: string) => (of(count) > 0 ? of(field) / of(count) : undefined)
  const reward = mean('reward', 'scored')
  const figures: Record<string, number | null | undefined> = {
    step,
    groups: of('groups'),
    rollouts: of('rollouts'),
    'reward/mean': reward,
    'reward/std':
      reward === undefined ? undefined : Math.sqrt(Math.max(0, of('reward_squares') / of('scored') - reward ** 2)),
    'score/mean': mean('score', 'scored'),
    'score/frac_correct': mean('correct', 'scored'),
    'signal/frac': mean('signal', 'groups'),
    'signal/frac_easy': mean('all_correct', 'groups'),
    'signal/frac_hard': mean('all_wrong', 'groups'),
    'length/mean': mean('length_sum', 'length_count'),
    'length/p95': lengthPercentile(sums, 0.95),
    'truncated/frac': mean('truncated', 'rollouts'),
    'skipped/frac': mean('skipped', 'rollouts'),
    'masked/frac': mean('masked', 'rollouts'),
    'unscored/frac': mean('unscored', 'rollouts'),
    'lag/mean': mean('lag_sum', 'lag_count'),
    ...Object.fromEntries(
      FormatErrorCode.options.map((fault) => [`fault/${fault}`, mean(`format_error:${fault}`, 'rollouts')]),
    ),
    ...computeTaskRewards(sums),
  }
  const known = Object.entries(figures).filter((entry): entry is [string, number] => typeof entry[1] === 'number')
  return Object.fromEntries(known)
}

function computeTaskRewards(sums: Record<string, number>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(sums).flatMap(([field, scored]) => {
      const task = /^task_scored:(\w+)$/.exec(field)?.[1]
      return task && scored > 0 ? [[`task/${task}/reward`, (sums[`task_reward:${task}`] ?? 0) / scored]] : []
    }),
  )
}
