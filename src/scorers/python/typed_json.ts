/** The typed JSON of `src/engine/python/typed_json.py` as Python's values. */
import { PyDict, PyFloat, PySet, PyTuple, type PyValue } from './values.ts'

type TagDecoder = (inner: unknown) => PyValue

const TAG_DECODERS: Readonly<Record<string, TagDecoder>> = {
  $tuple: (inner) => new PyTuple(requireList(inner).map(decodeTypedJson)),
  $set: (inner) => new PySet(requireList(inner).map(decodeTypedJson)),
  $dict: (inner) =>
    toPyDict(
      requireList(inner).map((pair) => [decodeTypedJson(requireList(pair)[0]), decodeTypedJson(requireList(pair)[1])]),
    ),
  $int: (inner) => parseHexInteger(String(inner)),
  $float: (inner) => new PyFloat(parseTypedFloat(String(inner))),
}

/** Reads an entry's own JSON, which is trusted; throws TypeError for fractions, decimals, dates and opaque objects. */
export function decodeTypedJson(json: unknown): PyValue {
  if (json === null || typeof json === 'boolean' || typeof json === 'string') return json
  if (typeof json === 'number') return Number.isInteger(json) ? BigInt(json) : new PyFloat(json)
  if (Array.isArray(json)) return json.map(decodeTypedJson)
  if (typeof json !== 'object') throw new TypeError(`no typed JSON: ${typeof json}`)
  const entries = Object.entries(json)
  const [mark = '', inner] = entries[0] ?? []
  if (entries.length !== 1 || !mark.startsWith('$'))
    return toPyDict(entries.map(([key, value]) => [key, decodeTypedJson(value)]))
  const read = TAG_DECODERS[mark]
  if (read === undefined) throw new TypeError(`no Python value here for ${mark}`)
  return read(inner)
}

function toPyDict(entries: readonly (readonly [PyValue, PyValue])[]): PyDict {
  const read = new PyDict()
  for (const [key, value] of entries) read.set(key, value)
  return read
}

function requireList(inner: unknown): unknown[] {
  if (!Array.isArray(inner)) throw new TypeError('a mark without its list')
  return inner
}

function parseHexInteger(hex: string): bigint {
  return hex.startsWith('-') ? -BigInt(hex.slice(1)) : BigInt(hex)
}

function parseTypedFloat(text: string): number {
  if (text === 'inf' || text === '-inf') return text === 'inf' ? Infinity : -Infinity
  return Number(text)
}
