/**
 * Checks large JSON before it is parsed. No legitimate body is nested deeper than 64 levels or has a million fields, arrays or
 * objects, and one that is could exhaust the stack or the memory of later code. One pass over the bytes; it skips strings as a whole.
 */
import { ServiceError } from '@reasoning-gym-server/contract/errors'

export const MAX_JSON_DEPTH = 64
export const MAX_JSON_ENTRIES = 1_000_000
/** An empty object takes three bytes of the body, and dozens once it is parsed. */
export const MAX_JSON_CONTAINERS = 1_000_000

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** The kind of each byte, as a table: a chain of comparisons takes four times as long. */
const ANY = 0
const STRING = 1
const NEXT = 2
const OPEN = 3
const CLOSE = 4
const BYTE_KINDS = new Uint8Array(256)
for (const [characters, kind] of [
  ['"', STRING],
  [',', NEXT],
  ['[{', OPEN],
  [']}', CLOSE],
] as const) {
  for (const character of characters) BYTE_KINDS[character.charCodeAt(0)] = kind
}

/** Throws `invalid_json`. The parser reports malformed JSON. */
export function assertJsonLimits(bytes: Uint8Array): void {
  const outer: number[] = []
  let entries = 1
  let containers = 0
  for (let at = 0; at < bytes.length; at++) {
    const kind = BYTE_KINDS[bytes[at] ?? 0]
    if (kind === ANY) continue
    if (kind === NEXT) {
      if (++entries > MAX_JSON_ENTRIES)
        throw new ServiceError(
          'invalid_json',
          `An array or object in the body has more than the limit of ${MAX_JSON_ENTRIES} entries. Send smaller requests.`,
        )
    } else if (kind === STRING) at = findStringEnd(bytes, at)
    else if (kind === OPEN) {
      if (outer.push(entries) > MAX_JSON_DEPTH) throw createTooDeepError()
      if (++containers > MAX_JSON_CONTAINERS)
        throw new ServiceError(
          'invalid_json',
          `The body has more than the limit of ${MAX_JSON_CONTAINERS} arrays and objects. Send smaller requests.`,
        )
      entries = 1
    } else entries = outer.pop() ?? 1
  }
}

export function createTooDeepError(): ServiceError {
  return new ServiceError(
    'invalid_json',
    `The body is nested deeper than the limit of ${MAX_JSON_DEPTH} levels. Send a flatter body.`,
  )
}

/** The position of the closing quote, or the end of the bytes. */
function findStringEnd(bytes: Uint8Array, opening: number): number {
  for (let at = opening; ; ) {
    at = bytes.indexOf(QUOTE, at + 1)
    if (at < 0) return bytes.length
    let backslashes = 0
    while (bytes[at - 1 - backslashes] === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return at
  }
}
