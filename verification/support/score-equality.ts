/** When two scores of one answer are equal: bit for bit, but for the tasks whose rule takes an exponential. */

/**
 * Tasks whose score has an `exp` in it. IEEE 754 does not say what its last bit is: V8 and the C library behind Python each
 * have their own, and C libraries differ among themselves.
 */
const EXPONENTIAL_TASKS: ReadonlySet<string> = new Set([
  'calendar_arithmetic',
  'complex_arithmetic',
  'polynomial_equations',
])
/** In units of the last place of 1. */
const EXPONENTIAL_TOLERANCE_ULPS = 4
const ULP_OF_1 = 2 ** -53

export function areScoresEqual(task: string, a: number, b: number): boolean {
  return a === b || (EXPONENTIAL_TASKS.has(task) && Math.abs(a - b) <= EXPONENTIAL_TOLERANCE_ULPS * ULP_OF_1)
}
