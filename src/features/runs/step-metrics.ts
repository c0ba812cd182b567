/** Computes the metrics of one training step for a logger: flat numbers from the sums of its groups. */
import { computeGroupMetrics, omitUnknown, type StatisticSums } from '../../grading/group-statistics.ts'
import { meanOfSum } from '../../grading/statistics.ts'

/** Leaves out a metric that has no data. */
export function computeStepMetrics(step: number, sums: StatisticSums): Record<string, number> {
  const { groups = 0, rollouts = 0, all_correct = 0, all_wrong = 0 } = sums
  return omitUnknown({
    step,
    groups,
    rollouts,
    ...computeGroupMetrics(sums),
    'signal/frac_easy': meanOfSum(all_correct, groups),
    'signal/frac_hard': meanOfSum(all_wrong, groups),
    'lag/mean': meanOfSum(sums.lag_sum ?? 0, sums.lag_count ?? 0),
  })
}
