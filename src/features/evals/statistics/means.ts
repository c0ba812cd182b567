/**
 * Computes means of eval scores with their errors and intervals. Items are the units: the samples of one item are not
 * independent, so errors are clustered by item (Miller, "Adding Error Bars to Evals", arXiv 2411.00640). Intervals are
 * Wilson's (1927), which stay within [0, 1] and do not shrink to a point when all scores are equal.
 */

import { computeLift, meanOrNull, studentT95, Z_95 } from '../../../grading/statistics.ts'

/** The scores of an item's samples, each in [0, 1]. */
type ItemScores = readonly number[]

export interface Estimate {
  mean: number
  stderr: number | null
  confidence_95: [number, number] | null
}

/**
 * Computes the mean of all scores, with its standard error clustered by item. With G items and n scores, the error is
 * sqrt(G / (G − 1) · Σ_g (Σ_i (s_gi − mean))²) / n, which for one sample per item is the usual s / √n. Returns null if
 * there are no scores, and no error for a single item.
 */
export function clusteredMean(items: readonly ItemScores[]): Estimate | null {
  return stratifiedMean([items])
}

/**
 * Computes the mean for items in strata that a repetition would keep, such as the tasks of a suite: differences between
 * strata are not part of the error. The variances within the strata add up. Items that are alone in their stratum form
 * one stratum together.
 */
export function stratifiedMean(strata: readonly (readonly ItemScores[])[]): Estimate | null {
  const answered = mergeLoneItems(strata.map((items) => items.filter((scores) => scores.length > 0)))
  const items = answered.flat()
  const scores = items.flat()
  const mean = meanOrNull(scores)
  if (mean === null) return null
  if (items.length < 2) return { mean, stderr: null, confidence_95: null }
  const squares = answered.reduce((sum, stratum) => sum + sumOfClusterSquares(stratum), 0)
  const stderr = Math.sqrt(squares) / scores.length
  return { mean, stderr, confidence_95: wilsonInterval(mean, stderr, items.length) }
}

/**
 * Estimates the mean score on other tasks of the same kind: the mean of all scores, clustered by task, with an interval
 * for few clusters. `tasks` has all scores of each task. Returns undefined for fewer than two tasks with scores.
 */
export function meanAcrossTasks(tasks: readonly ItemScores[]): Estimate | undefined {
  const answered = tasks.filter((scores) => scores.length > 0)
  const estimate = clusteredMean(answered)
  if (!estimate || estimate.stderr === null) return undefined
  const { mean, stderr } = estimate
  const quantile = studentT95(answered.length - 1)
  return { mean, stderr, confidence_95: wilsonInterval(mean, stderr, answered.length, quantile) }
}

/** Computes G / (G − 1) · Σ_g (Σ_i (s_gi − mean))²; 0 for a single item. */
function sumOfClusterSquares(items: readonly ItemScores[]): number {
  const center = meanOrNull(items.flat()) ?? 0
  const squares = items.reduce((sum, scores) => sum + scores.reduce((part, score) => part + score - center, 0) ** 2, 0)
  return items.length < 2 ? 0 : (items.length / (items.length - 1)) * squares
}

/** Merges strata with a single item, because they have no spread of their own. */
function mergeLoneItems(strata: readonly (readonly ItemScores[])[]): (readonly ItemScores[])[] {
  const lone = strata.filter((items) => items.length === 1).flat()
  const others = strata.filter((items) => items.length > 1)
  if (lone.length !== 1) return lone.length === 0 ? others : [...others, lone]
  const [first = [], ...rest] = others
  return [[...first, ...lone], ...rest]
}

/**
 * Computes Wilson's interval for a mean of scores in [0, 1], for the number of independent yes-or-no trials that would
 * have the same error. Without spread that number is unknown, and the number of items is used instead.
 */
export function wilsonInterval(mean: number, stderr: number, items: number, quantile = Z_95): [number, number] {
  const variance = mean * (1 - mean)
  const trials = stderr > 0 && variance > 0 ? variance / stderr ** 2 : items
  const share = quantile ** 2 / trials
  const center = (mean + share / 2) / (1 + share)
  const halfWidth = (quantile / (1 + share)) * Math.sqrt(variance / trials + share / (4 * trials))
  return [Math.max(0, center - halfWidth), Math.min(1, center + halfWidth)]
}

interface Lift {
  /** Mean of the items' floors, or null without items. */
  guess_floor: number | null
  /** Lift, below 0 if guessing earns more. Null where guessing counts as correct. */
  lift: number | null
  lift_stderr: number | null
  lift_confidence_95: [number, number] | null
}

/**
 * Computes lift, or floor-corrected accuracy: how far a mean score is on the way from the score of guessing to full
 * marks, (mean − floor) / (1 − floor). The floor is a constant of the items, so errors and intervals are those of the
 * mean, scaled. `floors` has the score of guessing for each score behind the estimate.
 */
export function estimateLift(estimate: Estimate | null, floors: readonly number[]): Lift {
  const guess_floor = meanOrNull([...floors])
  const lift = computeLift(estimate?.mean ?? null, guess_floor)
  if (lift === null || guess_floor === null || !estimate)
    return { guess_floor, lift: null, lift_stderr: null, lift_confidence_95: null }
  const { stderr, confidence_95 } = estimate
  const correct = (score: number) => Math.max(-1, (score - guess_floor) / (1 - guess_floor))
  return {
    guess_floor,
    lift,
    lift_stderr: stderr === null ? null : stderr / (1 - guess_floor),
    lift_confidence_95: confidence_95 && [correct(confidence_95[0]), correct(confidence_95[1])],
  }
}

/** 95% point of the normal distribution: the half width of a 90% interval in standard errors. */
export const Z_90 = 1.6448536269514722
/** 80% point of the normal distribution: the power for which the smallest detectable difference is stated. */
export const Z_POWER = 0.8416212335729143

/** Returns the probability of a deviation of at least |z| standard errors in either direction. */
export function twoSidedPValue(z: number): number {
  return erfc(Math.abs(z) / Math.SQRT2)
}

/** Computes the complementary error function for x ≥ 0 to 14 digits: a series near 0, a continued fraction farther out. */
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
