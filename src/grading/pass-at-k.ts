/**
 * pass@k: the probability that at least one of k rollouts of an item is correct, averaged over groups. A group with n scored
 * rollouts, c of them correct, gives the unbiased estimate 1 − C(n − c, k) / C(n, k) (Chen et al., 2021, arXiv:2107.03374).
 */
import { formatSumField, listSums } from './group-sums.ts'

interface GroupOutcomeCounts {
  scored: number
  correct: number
}

/** The field that counts groups with these numbers of rollouts. From these counts, pass@k is exact for any k. */
export function formatOutcomeField({ scored, correct }: GroupOutcomeCounts): string {
  return formatSumField('outcomes', `${correct}_of_${scored}`)
}

/** Metrics `pass_at/K` for K = 2, 4, 8, … Groups with fewer than K scored rollouts do not count toward `pass_at/K`. */
export function computePassAtK(sums: Readonly<Record<string, number>>): Record<string, number> {
  const groups = listSums('outcomes', sums).map(([name, count]) => {
    const [correct = 0, scored = 0] = name.split('_of_').map(Number)
    return { scored, correct, count }
  })
  const largest = groups.reduce((most, { scored }) => Math.max(most, scored), 0)
  const metrics: Record<string, number> = {}
  for (let k = 2; k <= largest; k *= 2) {
    const counted = groups.filter(({ scored }) => scored >= k)
    const total = counted.reduce((sum, { count }) => sum + count, 0)
    metrics[`pass_at/${k}`] =
      counted.reduce((sum, { scored, correct, count }) => sum + count * estimatePassAtK(scored, correct, k), 0) / total
  }
  return metrics
}

/** The estimate from `correct` of `scored` rollouts, as a product, because the binomials overflow. */
export function estimatePassAtK(scored: number, correct: number, k: number): number {
  if (scored - correct < k) return 1
  let allWrong = 1
  for (let i = scored - correct + 1; i <= scored; i++) allWrong *= 1 - k / i
  return 1 - allWrong
}
