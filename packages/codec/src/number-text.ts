/**
 * Formats numbers as lossless JSON lists, because token IDs and log-probabilities are most of a batch. Integers take a third of
 * the time of JSON.stringify. Float32 values take half, with 17 digits, which are enough for every double: JSON.stringify
 * searches for the shortest.
 */
import { sharedScratchBuffer } from './shared-scratch-buffer.ts'

/** `-2147483648,` */
const MAX_CHARS_PER_INTEGER = 12
const [COMMA, MINUS, ZERO, POINT, OPEN, CLOSE] = [0x2c, 0x2d, 0x30, 0x2e, 0x5b, 0x5d]

export function formatIntegerList(values: Int32Array | Int16Array | Uint8Array): string {
  const text = sharedScratchBuffer(values.length * MAX_CHARS_PER_INTEGER + 2)
  text[0] = OPEN
  let at = 1
  for (let k = 0; k < values.length; k++) {
    let x = values[k] ?? 0
    if (x < 0) {
      text[at++] = MINUS
      x = -x
    }
    x >>>= 0 // also handles -2^31, which has no positive int32; unsigned 32-bit division compiles to a multiplication
    const end = at + countDigits(x)
    for (let digit = end - 1; digit >= at; digit--) {
      const rest = (x / 10) >>> 0
      text[digit] = ZERO + x - rest * 10
      x = rest
    }
    text[end] = COMMA
    at = end + 1
  }
  if (values.length > 0) at-- // overwrites the last comma
  text[at] = CLOSE
  return text.toString('latin1', 0, at + 1)
}

function countDigits(x: number): number {
  if (x < 100_000) return x < 100 ? (x < 10 ? 1 : 2) : x < 1000 ? 3 : x < 10_000 ? 4 : 5
  return x < 10_000_000 ? (x < 1_000_000 ? 6 : 7) : x < 100_000_000 ? 8 : x < 1_000_000_000 ? 9 : 10
}

/** `-0.00000dddddddddddddddddd,` and what String writes. */
const MAX_CHARS_PER_FLOAT = 32

/** Values in this range are formatted here: one product turns all of their digits into an integer. */
const FIXED_NOTATION_MIN = 1e-6
const FIXED_NOTATION_LIMIT = 10
/** Splits a double in two halves (Dekker 1971). */
const DEKKER_SPLITTER = 2 ** 27 + 1
const SIGNIFICANT_DIGITS = 17
/** Integers below this limit are written with all of their digits. */
const EXACT_INTEGER_LIMIT = 2 ** 53
const TEN_TO_THE_8 = 1e8
const TEN_TO_THE_4 = 10_000

/** Powers of ten, exact, in two halves of 26 bits at most: of a float32, which has 24, their products are exact too. */
const POWERS_OF_TEN = Array.from({ length: 23 }, (_, k) => Number(`1e${k}`))
const POWER_UPPER_HALVES = Float64Array.from(POWERS_OF_TEN, upperHalf)
const POWER_LOWER_HALVES = Float64Array.from(POWERS_OF_TEN, (power) => power - upperHalf(power))

/** The four digits of each number below 10,000: a look-up takes a third of four divisions. */
const FOUR_DIGITS = Buffer.from(
  Array.from({ length: TEN_TO_THE_4 }, (_, k) => String(k).padStart(4, '0')).join(''),
  'latin1',
)

/** Formats a list; non-finite values become null. */
export function formatFloat32List(values: Float32Array): string {
  const text = sharedScratchBuffer(values.length * MAX_CHARS_PER_FLOAT + 2)
  text[0] = OPEN
  let at = 1
  for (let k = 0; k < values.length; k++) {
    const x = values[k] ?? 0
    const size = Math.abs(x)
    if (size >= FIXED_NOTATION_MIN && size < FIXED_NOTATION_LIMIT) {
      if (x < 0) text[at++] = MINUS
      at = writeDigits(text, at, size)
    } else at += text.write(formatNumber(x), at, 'latin1')
    text[at++] = COMMA
  }
  if (values.length > 0) at-- // overwrites the last comma
  text[at] = CLOSE
  return text.toString('latin1', 0, at + 1)
}

/** Formats a list of any doubles; non-finite values become null. */
export function formatFloat64List(values: number[]): string {
  return values.some((x) => Math.abs(x) >= EXACT_INTEGER_LIMIT)
    ? `[${values.map(formatNumber).join()}]`
    : JSON.stringify(values)
}

/**
 * Uses an exponent from 2^53 on: String writes 2^60 as 1152921504606847000. A parser of doubles reads that as 2^60, but one
 * with large integers, such as Python's, reads another number.
 */
function formatNumber(x: number): string {
  if (!Number.isFinite(x)) return 'null'
  return Math.abs(x) < EXACT_INTEGER_LIMIT ? String(x) : x.toExponential()
}

/** Returns the position after the last digit. */
function writeDigits(text: Buffer, from: number, size: number): number {
  let at = from
  const zeros = countLeadingZeros(size)
  const power = SIGNIFICANT_DIGITS - 1 + zeros
  const [upper, lower] = [size * (POWER_UPPER_HALVES[power] ?? 0), size * (POWER_LOWER_HALVES[power] ?? 0)]
  // The digits as an integer, which is no double but the sum of two.
  const high = upper + lower
  const low = upper - high + lower
  let head = Math.floor(high / TEN_TO_THE_8)
  let tail = high - head * TEN_TO_THE_8 + Math.round(low)
  if (tail < 0) {
    tail += TEN_TO_THE_8
    head--
  } else if (tail >= TEN_TO_THE_8) {
    tail -= TEN_TO_THE_8
    head++
  }
  const first = Math.floor(head / TEN_TO_THE_8)
  if (zeros > 0) {
    text[at++] = ZERO
    text[at++] = POINT
    for (let k = 1; k < zeros; k++) text[at++] = ZERO
    text[at++] = ZERO + first
  } else {
    text[at++] = ZERO + first
    text[at++] = POINT
  }
  writeEightDigits(text, at, head - first * TEN_TO_THE_8)
  writeEightDigits(text, at + 8, tail)
  at += 16
  while (text[at - 1] === ZERO) at--
  return text[at - 1] === POINT ? at - 1 : at
}

/** The zeros before the first significant digit, including the one before the point. */
function countLeadingZeros(size: number): number {
  if (size >= 0.01) return size >= 1 ? 0 : size >= 0.1 ? 1 : 2
  return size >= 1e-3 ? 3 : size >= 1e-4 ? 4 : size >= 1e-5 ? 5 : 6
}

/** The part of a power of ten that its upper 26 bits make: rounded to where 27 bits end. */
function upperHalf(power: number): number {
  const wide = DEKKER_SPLITTER * power
  return wide - (wide - power)
}

function writeEightDigits(text: Buffer, at: number, value: number): void {
  const x = value >>> 0
  const upper = (x / TEN_TO_THE_4) >>> 0
  writeFourDigits(text, at, upper)
  writeFourDigits(text, at + 4, x - upper * TEN_TO_THE_4)
}

function writeFourDigits(text: Buffer, at: number, value: number): void {
  const from = 4 * value
  text[at] = FOUR_DIGITS[from] ?? ZERO
  text[at + 1] = FOUR_DIGITS[from + 1] ?? ZERO
  text[at + 2] = FOUR_DIGITS[from + 2] ?? ZERO
  text[at + 3] = FOUR_DIGITS[from + 3] ?? ZERO
}
