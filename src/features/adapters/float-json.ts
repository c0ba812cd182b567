/**
 * Formats numbers as JSON that every reader parses as floats. Python reads `1` as an int, and a batch of only ints
 * becomes an integer tensor, which has no mean.
 */

export function formatFloat(value: number): string {
  return Number.isSafeInteger(value) ? `${value}.0` : String(value)
}

export function formatFloats(values: readonly number[]): string {
  return `[${values.map(formatFloat).join(', ')}]`
}
