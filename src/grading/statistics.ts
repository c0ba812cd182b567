/** Mean, standard deviation, interval, percentile and entropy, from values or from their sums. */
import { isCorrect } from '@reasoning-gym-server/contract/verdict'

/** The mean of at least one value. */
export function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

export function meanOrNull(values: number[]): number | null {
  return values.length === 0 ? null : mean(values)
}

/** The mean of `count` values that add up to `sum`; null if there are none. */
export function meanOfSum(sum: number, count: number): number | null {
  return count === 0 ? null : sum / count
}

/** The population standard deviation of at least one value. */
export function populationStd(values: number[]): number {
  return Math.sqrt(sumOfSquaredDeviations(values) / values.length)
}

/** The sample standard deviation of at least two values. */
export function sampleStd(values: number[]): number {
  return Math.sqrt(sampleVariance(values))
}

/** The sample variance of at least two values. */
export function sampleVariance(values: number[]): number {
  return sumOfSquaredDeviations(values) / (values.length - 1)
}

/** The population standard deviation of `count` values, from their sum and the sum of their squares. */
export function populationStdOfSums(sum: number, squares: number, count: number): number | null {
  return count === 0 ? null : Math.sqrt(Math.max(0, squares / count - (sum / count) ** 2))
}

/** The percentile at `fraction` by the nearest-rank method; null without values. */
export function percentile(values: number[], fraction: number): number | null {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * fraction) - 1] ?? null
}

/** The entropy in bits of what occurs this often. */
export function entropyOfCounts(counts: readonly number[]): number {
  const total = counts.reduce((sum, count) => sum + count, 0)
  const bits = counts.reduce((sum, count) => sum - (count / total) * Math.log2(count / total), 0)
  return Math.max(0, bits)
}

function sumOfSquaredDeviations(values: number[]): number {
  const center = mean(values)
  return values.reduce((sum, value) => sum + (value - center) ** 2, 0)
}

/**
 * Lift, or floor-corrected score: 0 for guessing, 1 for full marks, and at least −1. Null where guessing alone counts as correct, so that
 * no score is left to tell an answer from a guess.
 */
export function computeLift(score: number | null, guessFloor: number | null): number | null {
  if (score === null || guessFloor === null || isCorrect(guessFloor)) return null
  return Math.max(-1, (score - guessFloor) / (1 - guessFloor))
}

/** 97.5% point of the normal distribution: the half width of a 95% interval in standard errors. */
export const Z_95 = 1.959963984540054

const T_95 = [12.706204736, 4.30265273, 3.182446305, 2.776445105]

/**
 * Returns the 97.5% point of Student's t. From five degrees of freedom on, Fisher's expansion (1926) gives four digits;
 * below, they are rounded down.
 */
export function studentT95(degreesOfFreedom: number): number {
  const tabulated = T_95[Math.floor(degreesOfFreedom + 1e-9) - 1]
  if (tabulated !== undefined) return tabulated
  const z = Z_95
  const v = degreesOfFreedom
  const first = (z ** 3 + z) / (4 * v)
  const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * v ** 2)
  const third = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * v ** 3)
  const fourth = (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / (92_160 * v ** 4)
  return z + first + second + third + fourth
}
