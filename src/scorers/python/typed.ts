/** The typed JSON of `src/engine/host/typed.py` as Python's values. */
import { PyDict, PyFloat, PySet, PyTuple, type PyValue } from './values.ts'

type Reader = (inner: unknown) => PyValue

const marks: Readonly<Record<string, Reader>> = {
  $tuple: (inner) => new PyTuple(list(inner).map(fromTyped)),
  $set: (inner) => new PySet(list(inner).map(fromTyped)),
  $dict: (inner) => dict(list(inner).map((pair) => [fromTyped(list(pair)[0]), fromTyped(list(pair)[1])])),
  $int: (inner) => integer(String(inner)),
  $float: (inner) => new PyFloat(float(String(inner))),
}

/** Reads an entry's own JSON, which is trusted; throws TypeError for fractions, decimals, dates and opaque objects. */
export function fromTyped(json: unknown): PyValue {
  if (json === null || typeof json === 'boolean' || typeof json === 'string') return json
  if (typeof json === 'number') return Number.isInteger(json) ? BigInt(json) : new PyFloat(json)
  if (Array.isArray(json)) return json.map(fromTyped)
  if (typeof json !== 'object') throw new TypeError(`no typed JSON: ${typeof json}`)
  const entries = Object.entries(json)
  const [mark = '', inner] = entries[0] ?? []
  if (entries.length !== 1 || !mark.startsWith('$')) return dict(entries.map(([key, value]) => [key, fromTyped(value)]))
  const read = marks[mark]
  if (read === undefined) throw new TypeError(`no Python value here for ${mark}`)
  return read(inner)
}

function dict(entries: readonly (readonly [PyValue, PyValue])[]): PyDict {
  const read = new PyDict()
  for (const [key, value] of entries) read.set(key, value)
  return read
}

function list(inner: unknown): unknown[] {
  if (!Array.isArray(inner)) throw new TypeError('a mark without its list')
  return inner
}

function integer(hex: string): bigint {
  return hex.startsWith('-') ? -BigInt(hex.slice(1)) : BigInt(hex)
}

function float(text: string): number {
  if (text === 'inf' || text === '-inf') return text === 'inf' ? Infinity : -Infinity
  return Number(text)
}
