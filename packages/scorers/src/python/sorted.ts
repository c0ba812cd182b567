/** Python's `<` and `sorted`. */
import { equals, iterate, PyFloat, PyTuple, PyTypeError, type PyValue } from './values.ts'

/** Throws PyTypeError for what Python does not order; sets, which it orders in part, are among it. */
function isLess(a: PyValue, b: PyValue): boolean {
  const [x, y] = [toNumeric(a), toNumeric(b)]
  if (x !== undefined && y !== undefined) return x < y
  if (typeof a === 'string' && typeof b === 'string') return isTextLess(a, b)
  const alike = (Array.isArray(a) && Array.isArray(b)) || (a instanceof PyTuple && b instanceof PyTuple)
  if (!alike) throw new PyTypeError('no order')
  return isSequenceLess(iterate(a), iterate(b))
}

/** A new list, by `key`; equal items keep their order. */
export function sortByKey<T>(items: readonly T[], key: (item: T) => PyValue): T[] {
  const keyed = items.map((item) => ({ item, key: key(item) }))
  keyed.sort((a, b) => (isLess(a.key, b.key) ? -1 : isLess(b.key, a.key) ? 1 : 0))
  return keyed.map(({ item }) => item)
}

function toNumeric(value: PyValue): bigint | number | undefined {
  if (typeof value === 'bigint') return value
  if (typeof value === 'boolean') return value ? 1n : 0n
  return value instanceof PyFloat ? value.value : undefined
}

function isSequenceLess(a: readonly PyValue[], b: readonly PyValue[]): boolean {
  for (const [i, item] of a.entries()) {
    const other = b[i]
    if (other === undefined) return false
    if (item !== other && !equals(item, other)) return isLess(item, other)
  }
  return a.length < b.length
}

/** By code points, where JavaScript would go by UTF-16 units. */
function isTextLess(a: string, b: string): boolean {
  const end = Math.min(a.length, b.length)
  let i = 0
  while (i < end && a.charCodeAt(i) === b.charCodeAt(i)) i++
  return i < end ? getCodeUnitRank(a.charCodeAt(i)) < getCodeUnitRank(b.charCodeAt(i)) : a.length < b.length
}

/** Surrogates stand for what lies above all other units. */
function getCodeUnitRank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit
}
