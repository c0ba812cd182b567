/** Quantiles and probabilities of the normal distribution and of Student's t. */

/** 97.5% point of the normal distribution: the half width of a 95% interval in standard errors. */
export const Z_95 = 1.959963984540054
/** 95% point of the normal distribution: the half width of a 90% interval in standard errors. */
export const Z_90 = 1.6448536269514722
/** 80% point of the normal distribution: the power for which the smallest detectable difference is stated. */
export const Z_POWER = 0.8416212335729143

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

/** Returns the probability of a deviation of at least |z| standard errors in either direction. */
export function twoSidedPValue(z: number): number {
  return erfc(Math.abs(z) / Math.SQRT2)
}

/**
 * Computes the complementary error function for x ≥ 0 to 14 digits: a series near 0, a continued fraction farther out.
 */
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
