/**
 * A look at large JSON before it is parsed: nothing honest is nested deeper than 64 or has a million fields, and what is
 * could exhaust the stack or the memory of whoever walks it later. One pass over the bytes; strings are skipped as a whole.
 */
import { ServiceError } from '../../contract/errors.ts'

export const MAX_JSON_DEPTH = 64
export const MAX_JSON_ENTRIES = 1_000_000

const QUOTE = 0x22
const BACKSLASH = 0x5c
const BRACKET = 0x5b
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39

/** What a byte is, in a table: a chain of comparisons takes four times as long. */
const [ANY, STRING, NEXT, OPEN, CLOSE] = [0, 1, 2, 3, 4]
const BYTE_KINDS = new Uint8Array(256)
for (const [signs, kind] of [
  ['"', STRING],
  [',', NEXT],
  ['[{', OPEN],
  [']}', CLOSE],
] as const) {
  for (const sign of signs) BYTE_KINDS[sign.charCodeAt(0)] = kind
}

/** Throws `invalid_json`. What is no JSON at all is left to the parser. */
export function assertJsonLimits(bytes: Uint8Array): void {
  const endOfNumbers = createNumberListScanner(bytes)
  const outer: number[] = []
  let entries = 1
  for (let at = 0; at < bytes.length; at++) {
    const kind = BYTE_KINDS[bytes[at] ?? 0]
    if (kind === ANY) continue
    if (kind === NEXT) {
      if (++entries > MAX_JSON_ENTRIES)
        throw new ServiceError('invalid_json', `An array or object has more than ${MAX_JSON_ENTRIES} entries`)
    } else if (kind === STRING) at = findStringEnd(bytes, at)
    else if (kind === OPEN) {
      if (outer.push(entries) > MAX_JSON_DEPTH) throw createTooDeepError()
      entries = 1
      const end = endOfNumbers(at)
      if (end !== undefined) at = end - 1
    } else entries = outer.pop() ?? 1
  }
}

export function createTooDeepError(): ServiceError {
  return new ServiceError('invalid_json', `The body is nested deeper than ${MAX_JSON_DEPTH}`)
}

/** The place of the closing quote, or the end of the bytes. */
function findStringEnd(bytes: Uint8Array, opening: number): number {
  for (let at = opening; ; ) {
    at = bytes.indexOf(QUOTE, at + 1)
    if (at < 0) return bytes.length
    let backslashes = 0
    while (bytes[at - 1 - backslashes] === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return at
  }
}

/**
 * Finds the end of a list that holds numbers only, at the speed of a search for a byte: lists of tokens are most of what
 * large bodies hold. undefined for anything else, and where the list could be too long: then its entries are counted.
 */
function createNumberListScanner(bytes: Uint8Array): (opening: number) => number | undefined {
  const seek = (sign: string) => {
    const code = sign.charCodeAt(0)
    let place = -1
    return (from: number) => {
      if (place < from) place = bytes.indexOf(code, from)
      if (place < 0) place = Number.POSITIVE_INFINITY // there is none any more
      return place
    }
  }
  const close = seek(']')
  const others = [seek('"'), seek('['), seek('{'), seek('}')]
  return (opening) => {
    const first = bytes[opening + 1] ?? 0
    if (bytes[opening] !== BRACKET || !(first === MINUS || (first >= ZERO && first <= NINE))) return undefined
    const end = close(opening)
    if (end - opening > 2 * MAX_JSON_ENTRIES) return undefined // an entry takes two bytes
    return others.every((next) => next(opening + 1) > end) ? end : undefined
  }
}
