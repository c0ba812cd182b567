/** When two scores of one answer are equal: bit for bit, but for the tasks whose last bit depends on the C library or on Python's version. */

/**
 * Tasks whose score has an `exp` in it: IEEE 754 does not say what its last bit is, and V8 and the C library behind Python each have
 * their own. And letter_jumble, which adds up floats: since 3.12, Python rounds such a sum once; before, as in TypeScript, at each step.
 */
const ROUNDED_TASKS: ReadonlySet<string> = new Set([
  'calendar_arithmetic',
  'complex_arithmetic',
  'letter_jumble',
  'polynomial_equations',
])
/** In units of the last place of 1. */
const TOLERANCE_ULPS = 4
const ULP_OF_1 = 2 ** -53

export function areScoresEqual(task: string, a: number, b: number): boolean {
  return a === b || (ROUNDED_TASKS.has(task) && Math.abs(a - b) <= TOLERANCE_ULPS * ULP_OF_1)
}
