/**
 * A look at JSON before it is parsed: nothing honest is nested deeper than 64 or has a million fields, and what is could
 * exhaust the stack or the memory of whoever walks it later. One pass over the bytes; strings are skipped as a whole.
 */
import { Fault } from '../faults.ts'

const DEEPEST = 64
const LONGEST = 1_000_000

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** What a byte is, in a table: a chain of comparisons takes four times as long. */
const [ANY, STRING, NEXT, OPEN, CLOSE] = [0, 1, 2, 3, 4]
const KINDS = new Uint8Array(256)
for (const [signs, kind] of [
  ['"', STRING],
  [',', NEXT],
  ['[{', OPEN],
  [']}', CLOSE],
] as const) {
  for (const sign of signs) KINDS[sign.charCodeAt(0)] = kind
}

/** Throws `invalid_json`. What is no JSON at all is left to the parser. */
export function assertShape(bytes: Uint8Array): void {
  const outer: number[] = []
  let entries = 1
  for (let at = 0; at < bytes.length; at++) {
    const kind = KINDS[bytes[at] ?? 0]
    if (kind === ANY) continue
    if (kind === NEXT) {
      if (++entries > LONGEST) throw new Fault('invalid_json', `An array or object has more than ${LONGEST} entries`)
    } else if (kind === STRING) at = endOfString(bytes, at)
    else if (kind === OPEN) {
      if (outer.push(entries) > DEEPEST) throw new Fault('invalid_json', `The body is nested deeper than ${DEEPEST}`)
      entries = 1
    } else entries = outer.pop() ?? 1
  }
}

/** The place of the closing quote, or the end of the bytes. */
function endOfString(bytes: Uint8Array, opening: number): number {
  for (let at = opening; ; ) {
    at = bytes.indexOf(QUOTE, at + 1)
    if (at < 0) return bytes.length
    let backslashes = 0
    while (bytes[at - 1 - backslashes] === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return at
  }
}
