/**
 * Numbers of a float32 as a JSON list that gives back each of them, also as a double: in 17 digits, which is enough for
 * every double. JSON.stringify looks for the fewest digits, which takes twice as long; log-probabilities are most of a batch.
 */

import { scratch } from '../scratch.ts'

/** `-0.00000dddddddddddddddddd,` and what String writes. */
const MOST_CHARS = 32
const [COMMA, MINUS, ZERO, POINT, OPEN, CLOSE] = [0x2c, 0x2d, 0x30, 0x2e, 0x5b, 0x5d]

/** Sizes written by hand: ten to the power of -6 up to ten, so that all digits are an integer after one product. */
const LEAST = 1e-6
const LIMIT = 10
/** Splits a double in two halves (Dekker 1971). */
const SPLITTER = 2 ** 27 + 1
const DIGITS = 17
/** Whole numbers below it are written with all of their digits. */
const EXACT = 2 ** 53
const EIGHT = 1e8
const FOUR = 10_000

/** Powers of ten, exact, in two halves of 26 bits at most: of a float32, which has 24, their products are exact too. */
const POWERS = Array.from({ length: 23 }, (_, k) => Number(`1e${k}`))
const UPPER = Float64Array.from(POWERS, upperHalf)
const LOWER = Float64Array.from(POWERS, (power) => power - upperHalf(power))

/** The four digits of each number below 10,000: a look-up takes a third of four divisions. */
const FOUR_DIGITS = Buffer.from(Array.from({ length: FOUR }, (_, k) => String(k).padStart(4, '0')).join(''), 'latin1')

/** What is not finite becomes null. */
export function realText(values: Float32Array): string {
  const text = scratch(values.length * MOST_CHARS + 2)
  text[0] = OPEN
  let at = 1
  for (let k = 0; k < values.length; k++) {
    const x = values[k] ?? 0
    const size = Math.abs(x)
    if (size >= LEAST && size < LIMIT) {
      if (x < 0) text[at++] = MINUS
      at = writeDigits(text, at, size)
    } else at += text.write(spelt(x), at, 'latin1')
    text[at++] = COMMA
  }
  if (values.length > 0) at-- // the last comma gives way
  text[at] = CLOSE
  return text.toString('latin1', 0, at + 1)
}

/** The same for any doubles. */
export function doubleText(values: number[]): string {
  return values.some((x) => Math.abs(x) >= EXACT) ? `[${values.map(spelt).join()}]` : JSON.stringify(values)
}

/**
 * From 2^53 on with an exponent: String writes 2^60 as 1152921504606847000, which is read as 2^60 where all numbers are
 * doubles, but as another number by who knows large integers, as Python does.
 */
function spelt(x: number): string {
  if (!Number.isFinite(x)) return 'null'
  return Math.abs(x) < EXACT ? String(x) : x.toExponential()
}

/** Gives the place behind the last digit. */
function writeDigits(text: Buffer, from: number, size: number): number {
  let at = from
  const zeros = zerosBefore(size)
  const power = DIGITS - 1 + zeros
  const [upper, lower] = [size * (UPPER[power] ?? 0), size * (LOWER[power] ?? 0)]
  // The digits as an integer, which is no double but the sum of two.
  const high = upper + lower
  const low = upper - high + lower
  let head = Math.floor(high / EIGHT)
  let tail = high - head * EIGHT + Math.round(low)
  if (tail < 0) {
    tail += EIGHT
    head--
  } else if (tail >= EIGHT) {
    tail -= EIGHT
    head++
  }
  const first = Math.floor(head / EIGHT)
  if (zeros > 0) {
    text[at++] = ZERO
    text[at++] = POINT
    for (let k = 1; k < zeros; k++) text[at++] = ZERO
    text[at++] = ZERO + first
  } else {
    text[at++] = ZERO + first
    text[at++] = POINT
  }
  writeEight(text, at, head - first * EIGHT)
  writeEight(text, at + 8, tail)
  at += 16
  while (text[at - 1] === ZERO) at--
  return text[at - 1] === POINT ? at - 1 : at
}

/** Zeros before the first digit, that before the point among them. */
function zerosBefore(size: number): number {
  if (size >= 0.01) return size >= 1 ? 0 : size >= 0.1 ? 1 : 2
  return size >= 1e-3 ? 3 : size >= 1e-4 ? 4 : size >= 1e-5 ? 5 : 6
}

/** The part of a power of ten that its upper 26 bits make: rounded to where 27 bits end. */
function upperHalf(power: number): number {
  const wide = SPLITTER * power
  return wide - (wide - power)
}

function writeEight(text: Buffer, at: number, value: number): void {
  const x = value >>> 0
  const upper = (x / FOUR) >>> 0
  writeFour(text, at, upper)
  writeFour(text, at + 4, x - upper * FOUR)
}

function writeFour(text: Buffer, at: number, value: number): void {
  const from = 4 * value
  text[at] = FOUR_DIGITS[from] ?? ZERO
  text[at + 1] = FOUR_DIGITS[from + 1] ?? ZERO
  text[at + 2] = FOUR_DIGITS[from + 2] ?? ZERO
  text[at + 3] = FOUR_DIGITS[from + 3] ?? ZERO
}
