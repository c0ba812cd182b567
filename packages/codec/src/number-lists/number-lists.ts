/**
 * Parses the numbers of a JSON list from its bytes with WebAssembly, bit for bit as JSON.parse does.
 *
 * Symptom: JSON.parse of the 98,000 numbers of a 1 MB group takes a third of the API's time.
 * Gain: W6 in 195 groups a second, without it 138; nothing without detach-buffer.ts.
 * Measure: npm run bench -- --only tokens [--without number-lists]
 * Delete when: W6 in loses less than a tenth, or JSON numbers need not be fast since clients send typed arrays.
 */
import { type NumberArray, toSmallestArray } from './number-array.ts'
import { maxChunkBytes, numberBuffer, read, textBuffer } from './wasm-parser.ts'

const COMMA = 0x2c

/**
 * Reads the inside of a list, `bytes[from..to)` without its brackets: `1, -2,3.5e-3,null`. A null becomes NaN, which nothing
 * else does. undefined for all that is no list of numbers, and for numbers that JSON.parse has to read: of more than 19 digits,
 * or more than 40 places before or behind the point.
 */
export function parseNumberList(bytes: Uint8Array, from: number, to: number): NumberArray | undefined {
  if (from === to) return new Int32Array()
  if (to - from <= maxChunkBytes) {
    const count = parseChunk(bytes, from, to)
    return count < 0 ? undefined : toSmallestArray(numberBuffer, count)
  }
  const pieces: Float64Array[] = []
  for (let at = from; at <= to; ) {
    const end = findChunkEnd(bytes, at, to)
    const count = end < 0 ? -1 : parseChunk(bytes, at, end)
    if (count < 0) return undefined
    pieces.push(numberBuffer.slice(0, count))
    at = end + 1
  }
  const all = concatChunks(pieces)
  return toSmallestArray(all, all.length)
}

/** The end, or the last comma that can be reached; -1 where an entry is too long to have one. */
function findChunkEnd(bytes: Uint8Array, from: number, to: number): number {
  const limit = from + maxChunkBytes
  if (to <= limit) return to
  const comma = bytes.lastIndexOf(COMMA, limit)
  return comma < from ? -1 : comma
}

function parseChunk(bytes: Uint8Array, from: number, to: number): number {
  textBuffer.set(bytes.subarray(from, to))
  return read(to - from)
}

function concatChunks(pieces: Float64Array[]): Float64Array {
  const all = new Float64Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    all.set(piece, at)
    at += piece.length
  }
  return all
}
