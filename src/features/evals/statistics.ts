/**
 * The statistics of evals, as pure functions. Standard errors, paired differences and the smallest detectable difference
 * follow Miller, "Adding Error Bars to Evals" (arXiv 2411.00640); pass@k is the unbiased estimator of Chen et al.
 * (arXiv 2107.03374); multiple comparisons are corrected by Holm's method (1979).
 */

import { meanOrNull } from '../../grading/statistics.ts'

/** The normal distribution's 97.5 % point: the half width of a 95 % interval in standard errors. */
const Z_95 = 1.959963984540054
/** Its 80 % point: the power for which the smallest detectable difference is stated. */
const Z_POWER = 0.8416212335729143

export interface Estimate {
  mean: number
  stderr: number | null
  confidence_95: [number, number] | null
}

/**
 * The mean of all scores, with its standard error clustered by item: the samples of one item are not independent.
 * With G items and n scores: sqrt(G / (G − 1) · Σ_g (Σ_i (s_gi − mean))²) / n, which for one sample an item is the usual
 * s / √n. Null if there are no scores; without an error for a single item.
 */
export function clusteredMean(items: number[][]): Estimate | null {
  const scores = items.flat()
  const center = meanOrNull(scores)
  if (center === null) return null
  const clusters = items.filter((samples) => samples.length > 0)
  const G = clusters.length
  if (G < 2) return { mean: center, stderr: null, confidence_95: null }
  const squares = clusters.reduce((sum, samples) => sum + samples.reduce((part, s) => part + s - center, 0) ** 2, 0)
  return buildEstimate(center, Math.sqrt((G / (G - 1)) * squares) / scores.length)
}

function buildEstimate(center: number, stderr: number): Estimate {
  return { mean: center, stderr, confidence_95: [center - Z_95 * stderr, center + Z_95 * stderr] }
}

/** The probability that at least one of k samples is correct, from c correct ones of n: 1 − C(n − c, k) / C(n, k). Needs k ≤ n. */
export function passAtK(n: number, c: number, k: number): number {
  if (n - c < k) return 1
  let allWrong = 1
  for (let i = n - c + 1; i <= n; i++) allWrong *= 1 - k / i
  return 1 - allWrong
}

export interface PairedDifference {
  n: number
  difference: number
  stderr: number | null
  confidence_95: [number, number] | null
  /** Two-sided, of the hypothesis that the difference is 0. */
  p: number | null
  /** At 95 % confidence with 80 % power. */
  smallest_detectable: number | null
}

/** From the two mean scores of each item. Null if there are no pairs. */
export function pairedDifference(pairs: [a: number, b: number][]): PairedDifference | null {
  const differences = pairs.map(([a, b]) => [a - b])
  const estimate = clusteredMean(differences)
  if (!estimate) return null
  const { stderr } = estimate
  return {
    n: pairs.length,
    difference: estimate.mean,
    stderr,
    confidence_95: estimate.confidence_95,
    p: stderr === null ? null : twoSidedPValue(estimate.mean, stderr),
    smallest_detectable: stderr === null ? null : (Z_95 + Z_POWER) * stderr,
  }
}

function twoSidedPValue(difference: number, stderr: number): number {
  if (stderr === 0) return difference === 0 ? 1 : 0
  return erfc(Math.abs(difference / stderr) / Math.SQRT2)
}

/** Holm's step-down correction for multiple comparisons, in the order of `ps`. */
export function holmCorrection(ps: number[]): number[] {
  const order = ps.map((_, k) => k).toSorted((a, b) => (ps[a] ?? 1) - (ps[b] ?? 1))
  const corrected: number[] = []
  let runningMax = 0
  order.forEach((k, rank) => {
    runningMax = Math.max(runningMax, Math.min(1, (ps.length - rank) * (ps[k] ?? 1)))
    corrected[k] = runningMax
  })
  return corrected
}

/** The complementary error function for x ≥ 0, to 14 digits: a series near 0, a continued fraction further out. */
export function erfc(x: number): number {
  if (x > 27) return 0
  if (x < 2.5) {
    let term = x
    let sum = x
    for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
      term *= (-x * x) / n
      sum += term / (2 * n + 1)
      if (term === 0) break
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * sum
  }
  let fraction = x
  for (let n = 120; n > 0; n--) fraction = x + n / 2 / fraction
  return Math.exp(-x * x) / (Math.sqrt(Math.PI) * fraction)
}
