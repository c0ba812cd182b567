/**
 * Numbers of a JSON list from its bytes, to the bit as JSON.parse reads them, in under half of its time: lists of tokens and
 * log-probabilities are most of what large bodies hold.
 */
import { mostBytes, numbers, read, text } from './reader.ts'

const COMMA = 0x2c

/**
 * Reads the inside of a list, `bytes[from..to)` without its brackets: `1, -2,3.5e-3,null`. A null becomes NaN, which nothing
 * else does. undefined for all that is no list of numbers, and for numbers that JSON.parse has to read: of more than 19 digits,
 * or more than 40 places before or behind the point.
 */
export function readNumbers(bytes: Uint8Array, from: number, to: number): Float64Array | undefined {
  if (from === to) return new Float64Array()
  if (to - from <= mostBytes) return readPiece(bytes, from, to)
  const pieces: Float64Array[] = []
  for (let at = from; at <= to; ) {
    const end = endOfPiece(bytes, at, to)
    const piece = end < 0 ? undefined : readPiece(bytes, at, end)
    if (!piece) return undefined
    pieces.push(piece)
    at = end + 1
  }
  return joined(pieces)
}

/** The end, or the last comma that can be reached; -1 where an entry is too long to have one. */
function endOfPiece(bytes: Uint8Array, from: number, to: number): number {
  const limit = from + mostBytes
  if (to <= limit) return to
  const comma = bytes.lastIndexOf(COMMA, limit)
  return comma < from ? -1 : comma
}

function readPiece(bytes: Uint8Array, from: number, to: number): Float64Array | undefined {
  text.set(bytes.subarray(from, to))
  const count = read(to - from)
  return count < 0 ? undefined : numbers.slice(0, count)
}

function joined(pieces: Float64Array[]): Float64Array {
  const all = new Float64Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    all.set(piece, at)
    at += piece.length
  }
  return all
}
