/** The hash of parsed JSON: equal content, whatever the order of its keys, has equal hashes. */
import { createHash } from 'node:crypto'
import { Fault } from './faults.ts'

const DEPTH_MAX = 100

export function contentHash(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex')
}

/** One spelling for equal content. */
export function canonicalJson(value: unknown, depth = 0): string {
  if (depth > DEPTH_MAX) throw new Fault('invalid_request', `The body nests deeper than ${DEPTH_MAX} levels`)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) {
    if (typeof value[0] === 'number') return JSON.stringify(value) // tokens: long, and nothing in them to sort
    return `[${value.map((element) => canonicalJson(element, depth + 1)).join(',')}]`
  }
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return `{${fields
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field, depth + 1)}`)
    .join(',')}}`
}
