/** What codeio takes for the distance of two labels: edits of their texts, or how far apart their numbers are. */
import { codePoints } from '../python/text.ts'
import { type Label, type LabelValue, type MeasuredText, UncertainScoreError } from './json-tree.ts'

/** The least number that a difference of numbers is divided by. */
const LEAST_DIVISOR = 1e-4

/** Limits what one answer may take, to some 30 ms. A step fills a cell of a table, looks at two labels, or compares ten characters. */
export class StepLimit {
  #left = 1_250_000

  spend(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) throw new UncertainScoreError('too many steps')
  }
}

/**
 * The cost so far and that of one label becoming the other, if that is less than `most`, else `most`: `_tree_node_edit_distance` of the
 * library. Edits are counted only where their least number does not decide.
 */
export function addLabelDistance(before: number, a: Label, b: Label, most: number, limit: StepLimit): number {
  limit.spend(1)
  if (!a.parts || !b.parts) {
    if (before + boundEdits(a, b) >= most) return most
    return Math.min(most, before + countEdits(a, b, limit))
  }
  const [{ key, value }, other] = [a.parts, b.parts]
  const difference = value.text === other.value.text ? 0 : measureNumbers(value, other.value)
  if (Number.isNaN(difference)) return most
  const penalty = getPenalty(a, b)
  const least = difference ?? boundEdits(value, other.value) + penalty
  if (before + (boundEdits(key, other.key) + least) >= most) return most
  const keyEdits = countEdits(key, other.key, limit)
  if (before + (keyEdits + least) >= most) return most
  return difference === undefined
    ? Math.min(most, before + (keyEdits + (countEdits(value, other.value, limit) + penalty)))
    : before + (keyEdits + difference)
}

/** Undefined where a value is no number. NaN where both are beyond a float, as in Python. */
function measureNumbers(
  { length, decimal: x }: LabelValue,
  { length: other, decimal: y }: LabelValue,
): number | undefined {
  if (x === undefined || y === undefined || Number.isNaN(x + y)) return undefined
  return Math.max(length, other) * Math.abs((x - y) / Math.max(Math.min(x, y), LEAST_DIVISOR))
}

/** For a whole number against another kind of value. */
function getPenalty(a: Label, b: Label): number {
  const [x, y] = [a.parts?.value, b.parts?.value]
  const isPenalized = (x?.isInteger || y?.isInteger) && (x?.decimal === undefined || y?.decimal === undefined)
  return isPenalized ? Math.max(a.length, b.length) : 0
}

function boundEdits({ length }: MeasuredText, { length: other }: MeasuredText): number {
  return Math.abs(length - other)
}

let scratch = new Uint32Array(1024)

/** Levenshtein's distance, of what is between the beginning and the end that both have. */
function countEdits(one: MeasuredText, other: MeasuredText, limit: StepLimit): number {
  if (one.text === other.text) return 0
  const [a, b] = [listCodePoints(one), listCodePoints(other)]
  let [start, m, n] = [0, a.length, b.length]
  while (start < m && start < n && a[start] === b[start]) start++
  while (m > start && n > start && a[m - 1] === b[n - 1]) [m, n] = [m - 1, n - 1]
  limit.spend((a.length + b.length + (m - start) * (n - start)) / 10)
  if (scratch.length < n) scratch = new Uint32Array(n)
  const row = scratch
  for (let j = start; j < n; j++) row[j] = j - start + 1
  let last = n - start
  for (let i = start; i < m; i++) {
    const ch = a[i]
    let before = i - start
    last = before + 1
    for (let j = start; j < n; j++) {
      const above = row[j] ?? 0
      last = ch === b[j] ? before : 1 + Math.min(before, above, last)
      before = above
      row[j] = last
    }
  }
  return last
}

function listCodePoints({ text, length }: MeasuredText): Uint32Array {
  const codes = new Uint32Array(length)
  if (text.length > length) codes.set(codePoints(text).map((ch) => ch.codePointAt(0) ?? 0))
  else for (let i = 0; i < length; i++) codes[i] = text.charCodeAt(i)
  return codes
}
