/** Binary floats of any precision, rounded as sympy's are: to the nearest, ties to even. */

import { bitLength, divideHalfEven } from '../python/numbers.ts'
import { SAFE_EVAL_LIMITS } from '../safe-eval-limits.ts'
import { UnsupportedExpressionError } from './tokens.ts'

/** mantissa · 2 ** exponent; the mantissa is odd, or 0, and has at most `precision` bits. */
export interface BigFloat {
  kind: 'float'
  mantissa: bigint
  exponent: number
  precision: number
}

const DOUBLE_PRECISION = { digits: 15, bits: 53 }
/** Beyond this no power of a float is within a double's range. */
const MAX_POWER_BITS = 2048

/** sympy's `Float(text)` of a decimal literal: 15 digits, or as many as are written. */
export function parseBigFloat(text: string): BigFloat {
  const [mantissa = '', power = '0'] = text.toLowerCase().replaceAll('_', '').split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  if (text.length > SAFE_EVAL_LIMITS.float_chars || Math.abs(Number(power)) > SAFE_EVAL_LIMITS.float_chars)
    throw new UnsupportedExpressionError('too long a number')
  const coefficient = BigInt(`${whole}${fraction}` || '0')
  const exponent = BigInt(power) - BigInt(fraction.length)
  const p = exponent > 0n ? coefficient * 10n ** exponent : coefficient
  const written = mantissa.includes('.') ? String(coefficient) : String(p)
  const digits = Math.max(DOUBLE_PRECISION.digits, written.length)
  return ratioToBigFloat(p, exponent < 0n ? 10n ** -exponent : 1n, Math.round((digits + 1) * 3.3219280948873626))
}

/** A finite double as it is. */
export function doubleToBigFloat(x: number): BigFloat {
  const power = x === 0 ? 0 : Math.floor(Math.log2(Math.abs(x))) - DOUBLE_PRECISION.bits
  return roundBigFloat(BigInt(Math.round(x * 2 ** -power)), power, DOUBLE_PRECISION.bits)
}

/** The exact value, not in lowest terms. */
export function toExactRatio({ mantissa, exponent }: BigFloat): { p: bigint; q: bigint } {
  return exponent < 0 ? { p: mantissa, q: 1n << BigInt(-exponent) } : { p: mantissa << BigInt(exponent), q: 1n }
}

/** p / q at a precision. */
export function ratioToBigFloat(p: bigint, q: bigint, precision: number): BigFloat {
  const [top, bottom] = q < 0n ? [-p, -q] : [p, q]
  const shift = Math.max(0, precision + 2 + bitLength(bottom) - bitLength(absBigInt(top)))
  const scaled = absBigInt(top) << BigInt(shift)
  const quotient = scaled / bottom
  const sticky = quotient * 2n + (quotient * bottom === scaled ? 0n : 1n)
  return roundBigFloat(top < 0n ? -sticky : sticky, -shift - 1, precision)
}

export function addFloats(x: BigFloat, y: BigFloat, precision: number): BigFloat {
  const low = Math.min(x.exponent, y.exponent)
  const sum = (x.mantissa << BigInt(x.exponent - low)) + (y.mantissa << BigInt(y.exponent - low))
  return roundBigFloat(sum, low, precision)
}

export function multiplyFloats(x: BigFloat, y: BigFloat, precision: number): BigFloat {
  return roundBigFloat(x.mantissa * y.mantissa, x.exponent + y.exponent, precision)
}

export function divideFloats(x: BigFloat, y: BigFloat, precision: number): BigFloat {
  const [a, b] = [toExactRatio(x), toExactRatio(y)]
  return ratioToBigFloat(a.p * b.q, a.q * b.p, precision)
}

/** x ** n for n that is not 0 and x that is not 0; throws UnsupportedExpressionError if the result is out of range. */
export function raiseBigFloat(x: BigFloat, n: bigint): BigFloat {
  const magnitude = x.exponent + bitLength(absBigInt(x.mantissa)) - 1
  const fraction = Number(absBigInt(x.mantissa)) / 2 ** (bitLength(absBigInt(x.mantissa)) - 1)
  const bits = Number(absBigInt(n)) * Math.abs(magnitude + (Number.isFinite(fraction) ? Math.log2(fraction) : 0))
  if (bits > MAX_POWER_BITS) throw new UnsupportedExpressionError('too big a power')
  if (n === -1n) return invertBigFloat(x, x.precision)
  if (n > 0n) return powerBySquaring(x, n)
  return invertBigFloat(powerBySquaring({ ...x, precision: x.precision + 5 }, -n), x.precision)
}

export function absBigInt(x: bigint): bigint {
  return x < 0n ? -x : x
}

function invertBigFloat(x: BigFloat, precision: number): BigFloat {
  const { p, q } = toExactRatio(x)
  return ratioToBigFloat(q, p, precision)
}

/** By squares, with some bits more than wanted on the way. */
function powerBySquaring(x: BigFloat, n: bigint): BigFloat {
  const wide = x.precision + 4 * bitLength(n) + 16
  let result: BigFloat = { ...x, mantissa: 1n, exponent: 0 }
  let square = x
  for (let left = n; left > 0n; left >>= 1n) {
    if (left & 1n) result = multiplyFloats(result, square, wide)
    square = multiplyFloats(square, square, wide)
  }
  return roundBigFloat(result.mantissa, result.exponent, x.precision)
}

function roundBigFloat(mantissa: bigint, exponent: number, precision: number): BigFloat {
  const size = absBigInt(mantissa)
  const excess = Math.max(0, bitLength(size) - precision)
  const kept = excess === 0 ? size : divideHalfEven(size, 1n << BigInt(excess))
  if (kept === 0n) return { kind: 'float', mantissa: 0n, exponent: 0, precision }
  const zeros = bitLength(kept & -kept) - 1
  const odd = kept >> BigInt(zeros)
  return { kind: 'float', mantissa: mantissa < 0n ? -odd : odd, exponent: exponent + excess + zeros, precision }
}
