/**
 * The hash of parsed JSON: equal content has equal hashes, whatever the order of its keys.
 *
 * safe-stable-stringify takes the same time, but beyond its maximum depth it writes "[Object]" instead of throwing: different
 * contents would get one hash, and what is stored would lose its inner levels.
 */
import { createHash } from 'node:crypto'

const MAX_DEPTH = 100

export class NestingTooDeepError extends Error {}

export function contentHash(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex')
}

/** Serializes equal content to equal text. Throws `NestingTooDeepError`. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sortKeys(value, 0)) ?? 'null'
}

/** The value with its keys sorted. Returns the same object if they already are, which is usual. */
function sortKeys(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) throw new NestingTooDeepError(`The JSON is nested deeper than ${MAX_DEPTH} levels`)
  if (Array.isArray(value)) return sortKeysOfElements(value, depth)
  const keys = Object.keys(value)
  let inOrder = true
  const fields = keys.map((key, k): [string, unknown] => {
    const field: unknown = Reflect.get(value, key)
    const sortedField = sortKeys(field, depth + 1)
    if (sortedField !== field || (k > 0 && key < (keys[k - 1] ?? ''))) inOrder = false
    return [key, sortedField]
  })
  return inOrder ? value : Object.fromEntries(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function sortKeysOfElements(values: unknown[], depth: number): unknown[] {
  const all = values.map((element) => sortKeys(element, depth + 1))
  return all.some((element, k) => element !== values[k]) ? all : values
}
