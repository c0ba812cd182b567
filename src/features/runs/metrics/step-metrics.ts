/** Computes the metrics of one training step, or of a row of several, for a logger: flat numbers from the sums of the groups. */
import { computeGroupMetrics, omitUnknown, type StatisticSums } from '../../../grading/group-statistics.ts'
import { meanOfSum } from '../../../grading/statistics.ts'

/** Leaves out a metric that has no data. `place` says which step or time the metrics are of. */
export function computeStepMetrics(place: Record<string, number>, sums: StatisticSums): Record<string, number> {
  const { groups = 0, rollouts = 0, all_correct = 0, all_wrong = 0 } = sums
  return omitUnknown({
    ...place,
    groups,
    rollouts,
    ...computeGroupMetrics(sums),
    'signal/frac_easy': meanOfSum(all_correct, groups),
    'signal/frac_hard': meanOfSum(all_wrong, groups),
    'lag/mean': meanOfSum(sums.lag_sum ?? 0, sums.lag_count ?? 0),
  })
}
