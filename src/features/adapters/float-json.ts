/**
 * Numbers as JSON that every reader takes for floats. Python reads `1` as an int, and a batch that has nothing but ints becomes a
 * tensor of integers, which has no mean.
 */

export function formatFloat(value: number): string {
  return Number.isSafeInteger(value) ? `${value}.0` : String(value)
}

export function formatFloats(values: readonly number[]): string {
  return `[${values.map(formatFloat).join(', ')}]`
}
