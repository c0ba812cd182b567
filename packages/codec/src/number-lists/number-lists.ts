/**
 * Parses the numbers of a JSON list from its bytes with WebAssembly, bit for bit as JSON.parse does.
 *
 * Symptom: JSON.parse of the 98,000 numbers of a 1 MB group takes a third of the API's time.
 * Gain: W6 in 195 groups a second, without it 138; nothing without detach-buffer.ts.
 * Measure: npm run bench -- --only tokens [--without number-lists]
 * Delete when: W6 in loses less than a tenth, or JSON numbers need not be fast since clients send typed arrays.
 */
import { readFileSync } from 'node:fs'
import { type NumberArray, toSmallestArray } from '../typed-arrays.ts'

const SIGNIFICAND_BITS = 128

/**
 * Powers of ten as the reader multiplies by them: the upper 128 bits of each, its highest bit set (Lemire 2021, arXiv 2101.11408).
 * The lower 64 bits of the least power, its upper 64, those of the next power… Below 1 they are rounded up, above cut off.
 */
function powersOfTen(least: number, most: number): BigUint64Array {
  const powers = Array.from({ length: most - least + 1 }, (_, k) => getUpperBits(least + k))
  return BigUint64Array.from(powers.flatMap((bits) => [BigInt.asUintN(64, bits), bits >> 64n]))
}

function getUpperBits(power: number): bigint {
  const five = 5n ** BigInt(Math.abs(power)) // powers of two only move the point
  const length = five.toString(2).length
  if (power < 0) return (1n << BigInt(length + SIGNIFICAND_BITS - 1)) / five + 1n
  return length > SIGNIFICAND_BITS
    ? five >> BigInt(length - SIGNIFICAND_BITS)
    : five << BigInt(SIGNIFICAND_BITS - length)
}

/** What assembly/read.ts exports. */
interface WasmExports
  extends Record<'MOST_BYTES' | 'TEXT' | 'NUMBERS' | 'LEAST_POWER' | 'MOST_POWER' | 'POWERS', { value: number }> {
  memory: { buffer: ArrayBuffer }
  /** Reads so many bytes of the text; gives how many numbers there are then, or -1 for what it does not take. */
  read: (bytes: number) => number
}

/** Node's types leave it to those of browsers. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object) => { exports: WasmExports }
}

const module = new WebAssembly.Module(readFileSync(new URL('read.wasm', import.meta.url)))
const { memory, MOST_BYTES, TEXT, NUMBERS, LEAST_POWER, MOST_POWER, POWERS, read } = new WebAssembly.Instance(module)
  .exports

const powersOfTenTable = powersOfTen(LEAST_POWER.value, MOST_POWER.value)
new BigUint64Array(memory.buffer, POWERS.value, powersOfTenTable.length).set(powersOfTenTable)

/** Bytes that can be read at once. */
const maxChunkBytes = MOST_BYTES.value
const textBuffer = new Uint8Array(memory.buffer, TEXT.value, maxChunkBytes)
const numberBuffer = new Float64Array(memory.buffer, NUMBERS.value, maxChunkBytes / 2)
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
