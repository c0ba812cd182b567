/** The hash of parsed JSON: equal content, whatever the order of its keys, has equal hashes. */
import { createHash } from 'node:crypto'
import { ServiceError } from '../contract/errors.ts'

const MAX_DEPTH = 100

export function contentHash(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex')
}

/** One spelling for equal content. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sortKeys(value, 0)) ?? 'null'
}

/** The same with its keys in order; the same object if they are, as they mostly are: then it is spelt in one go. */
function sortKeys(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) throw new ServiceError('invalid_request', `The body nests deeper than ${MAX_DEPTH} levels`)
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
