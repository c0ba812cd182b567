/**
 * Computes differences of two evals on the same items. p comes from a sign-flip test (Fisher 1935): if the two models
 * are equal, each item's difference could equally have the other sign. The test needs no large sample and is valid even
 * if every item agrees. Multiple comparisons are corrected by Holm's method (1979).
 */
import { meanOrNull, studentT95, Z_95 } from '../../../grading/statistics.ts'
import { twoSidedPValue, Z_POWER } from './means.ts'

/**
 * Number of items below which no p and no interval are reported, because no outcome of a sign-flip test reaches p < 0.05
 * with any confidence.
 */
const MIN_TESTED_ITEMS = 6
/** Number of items up to which every combination of signs is tried; above it, a random sample of them. */
const MAX_EXACT_ITEMS = 14
const SAMPLED_FLIPS = 10_000
/** Number of items from which the normal distribution agrees with the test. */
const MIN_NORMAL_ITEMS = 400

interface PairedDifference {
  n: number
  difference: number
  stderr: number | null
  /** Within −1 and 1; null for fewer than MIN_TESTED_ITEMS items. */
  confidence_95: [number, number] | null
  /** Two-sided p of the hypothesis that the difference is 0; null for fewer than MIN_TESTED_ITEMS items. */
  p: number | null
  /** Smallest difference that is detectable at 95% confidence with 80% power; null without a standard error above 0. */
  smallest_detectable: number | null
}

/** Stands for the difference without any pairs. */
export const NO_DIFFERENCE = {
  n: 0,
  difference: null,
  stderr: null,
  confidence_95: null,
  p: null,
  smallest_detectable: null,
}

/** Computes the difference from the two mean scores of each item. Returns null if there are no pairs. */
export function pairedDifference(pairs: readonly [a: number, b: number][]): PairedDifference | null {
  return stratifiedDifference([pairs])
}

/** Computes the difference over strata that a repetition would keep, such as the tasks of a suite. */
export function stratifiedDifference(strata: readonly (readonly [a: number, b: number][])[]): PairedDifference | null {
  const differences = strata.map((pairs) => pairs.map(([a, b]) => a - b))
  const all = differences.flat()
  const difference = meanOrNull(all)
  if (difference === null) return null
  const spread = computeSpread(differences)
  const stderr = spread?.stderr ?? null
  const isTested = all.length >= MIN_TESTED_ITEMS
  return {
    n: all.length,
    difference,
    stderr,
    confidence_95: isTested && spread ? computeInterval(difference, spread, all.length) : null,
    p: isTested ? signFlipPValue(all) : null,
    smallest_detectable: isTested && stderr ? (Z_95 + Z_POWER) * stderr : null,
  }
}

/**
 * The 95% interval, within the possible differences of scores in [0, 1]: Student's, for few items. Without any variance,
 * it would have no width. If all n items agree, with 95% confidence at most 1 − 0.05^(1/n) of all items do not (the exact
 * form of the rule of three, Hanley and Lippman-Hand 1983), and each of these can differ by anything that is possible.
 */
function computeInterval(difference: number, { stderr, degreesOfFreedom }: Spread, n: number): [number, number] {
  if (stderr > 0) {
    const halfWidth = studentT95(degreesOfFreedom) * stderr
    return [Math.max(-1, difference - halfWidth), Math.min(1, difference + halfWidth)]
  }
  const unseen = 1 - 0.05 ** (1 / n)
  return [difference - unseen * (1 + difference), difference + unseen * (1 - difference)]
}

interface Spread {
  stderr: number
  /** Of the variance, which strata with a large variance dominate (Welch and Satterthwaite 1947). */
  degreesOfFreedom: number
}

/** Computes the standard error. Strata with a single item count as one stratum. Returns null for fewer than two items. */
function computeSpread(strata: readonly (readonly number[])[]): Spread | null {
  const n = strata.flat().length
  if (n < 2) return null
  const lone = strata.filter((values) => values.length === 1).flat()
  const groups = [...strata.filter((values) => values.length > 1), ...(lone.length > 1 ? [lone] : [])]
  if (lone.length === 1) groups[0] = [...(groups[0] ?? []), ...lone]
  const variances = groups.map((values) => {
    const center = meanOrNull([...values]) ?? 0
    const deviations = values.reduce((total, value) => total + (value - center) ** 2, 0)
    return { variance: (values.length / (values.length - 1)) * deviations, degrees: values.length - 1 }
  })
  const variance = variances.reduce((sum, group) => sum + group.variance, 0)
  const squares = variances.reduce((sum, group) => sum + group.variance ** 2 / group.degrees, 0)
  return { stderr: Math.sqrt(variance) / n, degreesOfFreedom: variance ** 2 / squares }
}

/** Returns the share of sign flips whose sum is at least as far from 0. Equal differences give equal results. */
export function signFlipPValue(differences: readonly number[]): number {
  const nonzero = differences.filter((value) => value !== 0)
  if (nonzero.length === 0) return 1
  const sum = nonzero.reduce((total, value) => total + value, 0)
  // Sums of the same terms in another order differ in the last digits.
  const reached = Math.abs(sum) * (1 - 1e-12) - 1e-12
  if (nonzero.length <= MAX_EXACT_ITEMS) return countExactFlips(nonzero, reached)
  const squares = nonzero.reduce((total, value) => total + value ** 2, 0)
  if (nonzero.length >= MIN_NORMAL_ITEMS) return twoSidedPValue(sum / Math.sqrt(squares))
  return sampleFlips(nonzero, reached)
}

function countExactFlips(values: readonly number[], reached: number): number {
  const ways = 2 ** values.length
  let extreme = 0
  for (let signs = 0; signs < ways; signs++) {
    const sum = values.reduce((total, value, k) => total + ((signs >> k) & 1 ? value : -value), 0)
    if (Math.abs(sum) >= reached) extreme++
  }
  return extreme / ways
}

function sampleFlips(values: readonly number[], reached: number): number {
  const random = xorshift32(0x9e3779b9)
  let extreme = 0
  for (let flip = 0; flip < SAMPLED_FLIPS; flip++) {
    let sum = 0
    let bits = 0
    values.forEach((value, k) => {
      if (k % 32 === 0) bits = random()
      sum += (bits >>> (k % 32)) & 1 ? value : -value
    })
    if (Math.abs(sum) >= reached) extreme++
  }
  return (1 + extreme) / (1 + SAMPLED_FLIPS)
}

/** Marsaglia's generator (2003): returns 32 random bits per call, the same sequence for each seed. */
function xorshift32(seed: number): () => number {
  let state = seed
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state
  }
}

/** Applies Holm's step-down correction for multiple comparisons, in the order of `ps`. */
export function holmCorrection(ps: readonly number[]): number[] {
  const order = ps.map((_, k) => k).toSorted((a, b) => (ps[a] ?? 1) - (ps[b] ?? 1))
  const corrected: number[] = []
  let runningMax = 0
  order.forEach((k, rank) => {
    runningMax = Math.max(runningMax, Math.min(1, (ps.length - rank) * (ps[k] ?? 1)))
    corrected[k] = runningMax
  })
  return corrected
}
