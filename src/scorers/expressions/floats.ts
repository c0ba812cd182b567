/** Binary floats of any precision, rounded as sympy's are: to the nearest, ties to even. */
import { bitLength, divideHalfEven } from '../python/numbers.ts'
import { Refused } from './refused.ts'

/** mantissa · 2 ** exponent; the mantissa is odd, or 0, and has at most `precision` bits. */
export interface Float {
  kind: 'float'
  mantissa: bigint
  exponent: number
  precision: number
}

const MAX_CHARS = 400
const DOUBLE = { digits: 15, bits: 53 }
/** Beyond this no power of a float is within a double's range. */
const MAX_POWER_BITS = 2048

/** sympy's `Float(text)` of a decimal literal: 15 digits, or as many as are written. */
export function readFloat(text: string): Float {
  const [mantissa = '', power = '0'] = text.toLowerCase().replaceAll('_', '').split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  if (text.length > MAX_CHARS || Math.abs(Number(power)) > MAX_CHARS) throw new Refused('too long a number')
  const coefficient = BigInt(`${whole}${fraction}` || '0')
  const exponent = BigInt(power) - BigInt(fraction.length)
  const p = exponent > 0n ? coefficient * 10n ** exponent : coefficient
  const written = mantissa.includes('.') ? String(coefficient) : String(p)
  const digits = Math.max(DOUBLE.digits, written.length)
  return toFloat(p, exponent < 0n ? 10n ** -exponent : 1n, Math.round((digits + 1) * 3.3219280948873626))
}

/** A finite double as it is. */
export function fromDouble(x: number): Float {
  const power = x === 0 ? 0 : Math.floor(Math.log2(Math.abs(x))) - DOUBLE.bits
  return rounded(BigInt(Math.round(x * 2 ** -power)), power, DOUBLE.bits)
}

/** The exact value, not in lowest terms. */
export function exactly({ mantissa, exponent }: Float): { p: bigint; q: bigint } {
  return exponent < 0 ? { p: mantissa, q: 1n << BigInt(-exponent) } : { p: mantissa << BigInt(exponent), q: 1n }
}

/** p / q at a precision. */
export function toFloat(p: bigint, q: bigint, precision: number): Float {
  const [top, bottom] = q < 0n ? [-p, -q] : [p, q]
  const shift = Math.max(0, precision + 2 + bitLength(bottom) - bitLength(absolute(top)))
  const scaled = absolute(top) << BigInt(shift)
  const quotient = scaled / bottom
  const sticky = quotient * 2n + (quotient * bottom === scaled ? 0n : 1n)
  return rounded(top < 0n ? -sticky : sticky, -shift - 1, precision)
}

export function addFloats(x: Float, y: Float, precision: number): Float {
  const low = Math.min(x.exponent, y.exponent)
  const sum = (x.mantissa << BigInt(x.exponent - low)) + (y.mantissa << BigInt(y.exponent - low))
  return rounded(sum, low, precision)
}

export function multiplyFloats(x: Float, y: Float, precision: number): Float {
  return rounded(x.mantissa * y.mantissa, x.exponent + y.exponent, precision)
}

export function divideFloats(x: Float, y: Float, precision: number): Float {
  const [a, b] = [exactly(x), exactly(y)]
  return toFloat(a.p * b.q, a.q * b.p, precision)
}

/** x ** n for n that is not 0 and x that is not 0; throws Refused where the result is out of any range. */
export function floatPower(x: Float, n: bigint): Float {
  const magnitude = x.exponent + bitLength(absolute(x.mantissa)) - 1
  const fraction = Number(absolute(x.mantissa)) / 2 ** (bitLength(absolute(x.mantissa)) - 1)
  const bits = Number(absolute(n)) * Math.abs(magnitude + (Number.isFinite(fraction) ? Math.log2(fraction) : 0))
  if (bits > MAX_POWER_BITS) throw new Refused('too big a power')
  if (n === -1n) return inverse(x, x.precision)
  if (n > 0n) return repeated(x, n)
  return inverse(repeated({ ...x, precision: x.precision + 5 }, -n), x.precision)
}

export function absolute(x: bigint): bigint {
  return x < 0n ? -x : x
}

function inverse(x: Float, precision: number): Float {
  const { p, q } = exactly(x)
  return toFloat(q, p, precision)
}

/** By squares, with some bits more than wanted on the way. */
function repeated(x: Float, n: bigint): Float {
  const wide = x.precision + 4 * bitLength(n) + 16
  let result: Float = { ...x, mantissa: 1n, exponent: 0 }
  let square = x
  for (let left = n; left > 0n; left >>= 1n) {
    if (left & 1n) result = multiplyFloats(result, square, wide)
    square = multiplyFloats(square, square, wide)
  }
  return rounded(result.mantissa, result.exponent, x.precision)
}

function rounded(mantissa: bigint, exponent: number, precision: number): Float {
  const size = absolute(mantissa)
  const excess = Math.max(0, bitLength(size) - precision)
  const kept = excess === 0 ? size : divideHalfEven(size, 1n << BigInt(excess))
  if (kept === 0n) return { kind: 'float', mantissa: 0n, exponent: 0, precision }
  const zeros = bitLength(kept & -kept) - 1
  const odd = kept >> BigInt(zeros)
  return { kind: 'float', mantissa: mantissa < 0n ? -odd : odd, exponent: exponent + excess + zeros, precision }
}
