/**
 * Numbers of a float32 as a JSON list that gives back each of them, also as a double: in 17 digits, which is enough for
 * every double. JSON.stringify looks for the fewest digits, which takes twice as long; log-probabilities are most of a batch.
 */

/** `-0.00000dddddddddddddddddd,` and what String writes. */
const MOST_CHARS = 32
const [COMMA, MINUS, ZERO, POINT, OPEN, CLOSE] = [0x2c, 0x2d, 0x30, 0x2e, 0x5b, 0x5d]

/** Sizes written by hand: ten to the power of -6 up to ten, so that all digits are an integer after one product. */
const LEAST = 1e-6
const LIMIT = 10
/** Powers of ten that are doubles exactly. */
const POWERS = Float64Array.from({ length: 23 }, (_, k) => Number(`1e${k}`))
const DIGITS = 17
const EIGHT = 1e8
/** Splits a double in two halves whose products are exact (Dekker 1971). */
const SPLITTER = 2 ** 27 + 1

/** What is not finite becomes null. */
export function realText(values: Float32Array): string {
  const text = Buffer.allocUnsafe(values.length * MOST_CHARS + 2)
  text[0] = OPEN
  let at = 1
  for (let k = 0; k < values.length; k++) {
    const x = values[k] ?? 0
    const size = Math.abs(x)
    if (size >= LEAST && size < LIMIT) {
      if (x < 0) text[at++] = MINUS
      at = writeDigits(text, at, size)
    } else at += text.write(Number.isFinite(x) ? String(x) : 'null', at, 'latin1')
    text[at++] = COMMA
  }
  if (values.length > 0) at-- // the last comma gives way
  text[at] = CLOSE
  return text.toString('latin1', 0, at + 1)
}

/** Gives the place behind the last digit. */
function writeDigits(text: Buffer, from: number, size: number): number {
  let at = from
  const zeros = zerosBefore(size)
  const power = POWERS[DIGITS - 1 + zeros] ?? 1
  // size · power is not a double, but the sum of two: of a float32 and an exact power both are exact.
  const high = size * power
  const low = restOfProduct(size, power, high)
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

function restOfProduct(a: number, b: number, product: number): number {
  const [a1, b1] = [upperHalf(a), upperHalf(b)]
  const [a2, b2] = [a - a1, b - b1]
  return a1 * b1 - product + a1 * b2 + a2 * b1 + a2 * b2
}

function upperHalf(x: number): number {
  const wide = SPLITTER * x
  return wide - (wide - x)
}

function writeEight(text: Buffer, at: number, value: number): void {
  let x = value >>> 0
  for (let place = at + 7; place >= at; place--) {
    const rest = (x / 10) >>> 0
    text[place] = ZERO + x - rest * 10
    x = rest
  }
}
