/** Numbers as sympy has them: exact fractions, binary floats of a given precision, and infinities. */
import { bitLength, divideHalfEven, ratioToFloat } from '../python/numbers.ts'

/** In lowest terms, q > 0. */
export interface Rational {
  kind: 'rational'
  p: bigint
  q: bigint
}

/** mantissa · 2 ** exponent; the mantissa is odd, or 0, and has at most `precision` bits. */
export interface Float {
  kind: 'float'
  mantissa: bigint
  exponent: number
  precision: number
}

/** `zoo` is infinity without a direction, as of 1/0. */
export interface Limit {
  kind: 'limit'
  name: 'oo' | '-oo' | 'zoo' | 'nan'
}

export type Num = Rational | Float | Limit

/** The text is no value, or too big a one: an answer that is wrong whatever it means. */
export class Refused extends Error {}

/** A double's range, and the bound that `src/engine/host/reading.py` has. */
export const MAX_BITS = 1024
const MAX_FLOAT_CHARS = 400
const DOUBLE = { digits: 15, bits: 53 }

export const ZERO: Rational = { kind: 'rational', p: 0n, q: 1n }
export const ONE: Rational = { kind: 'rational', p: 1n, q: 1n }
export const MINUS_ONE: Rational = { kind: 'rational', p: -1n, q: 1n }
export const HALF: Rational = { kind: 'rational', p: 1n, q: 2n }
export const NAN: Limit = { kind: 'limit', name: 'nan' }
export const ZOO: Limit = { kind: 'limit', name: 'zoo' }

export function integer(p: bigint): Rational {
  return { kind: 'rational', p, q: 1n }
}

/** p / q in lowest terms; `zoo` or `nan` for q = 0. */
export function ratio(p: bigint, q: bigint): Rational | Limit {
  if (q === 0n) return p === 0n ? NAN : ZOO
  const divisor = gcd(p, q) * (q < 0n ? -1n : 1n)
  return { kind: 'rational', p: p / divisor, q: q / divisor }
}

/** sympy's `Float(text)` of a decimal literal: 15 digits, or as many as are written. */
export function readFloat(text: string): Float {
  const [mantissa = '', power = '0'] = text.toLowerCase().replaceAll('_', '').split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  if (text.length > MAX_FLOAT_CHARS || Math.abs(Number(power)) > MAX_FLOAT_CHARS) throw new Refused('too long a number')
  const coefficient = BigInt(`${whole}${fraction}` || '0')
  const exponent = BigInt(power) - BigInt(fraction.length)
  const p = exponent > 0n ? coefficient * 10n ** exponent : coefficient
  const written = mantissa.includes('.') ? String(coefficient) : String(p)
  const digits = Math.max(DOUBLE.digits, written.length)
  return toFloat(p, exponent < 0n ? 10n ** -exponent : 1n, precisionOf(digits))
}

/** The float nearest to x, in double precision. */
export function fromDouble(x: number): Num {
  if (Number.isNaN(x)) return NAN
  if (!Number.isFinite(x)) return { kind: 'limit', name: x > 0 ? 'oo' : '-oo' }
  const power = x === 0 ? 0 : Math.floor(Math.log2(Math.abs(x))) - DOUBLE.bits
  return vanishing(rounded(BigInt(Math.round(x * 2 ** -power)), power, DOUBLE.bits))
}

export function toDouble(x: Num): number {
  switch (x.kind) {
    case 'rational':
      return ratioToFloat(x.p, x.q)
    case 'float': {
      const { p, q } = exactly(x)
      return ratioToFloat(p, q)
    }
    case 'limit':
      return x.name === 'oo' ? Infinity : x.name === '-oo' ? -Infinity : Number.NaN
  }
}

/** The exact value of a float, not in lowest terms. */
export function exactly({ mantissa, exponent }: Float): { p: bigint; q: bigint } {
  return exponent < 0 ? { p: mantissa, q: 1n << BigInt(-exponent) } : { p: mantissa << BigInt(exponent), q: 1n }
}

export function keyOf(x: Num): string {
  if (x.kind === 'rational') return x.q === 1n ? String(x.p) : `${x.p}/${x.q}`
  return x.kind === 'float' ? `${x.mantissa}p${x.exponent}` : x.name
}

/** The value of an exact whole number; `2.0` is none. */
export function integerOf(x: Num): bigint | undefined {
  return x.kind === 'rational' && x.q === 1n ? x.p : undefined
}

export function isZero(x: Num): boolean {
  return signOf(x) === 0
}

/** Exactly one: `1.0` is not. */
export function isOne(x: Num): boolean {
  return x.kind === 'rational' && x.p === 1n && x.q === 1n
}

/** NaN for what has no sign. */
export function signOf(x: Num): number {
  if (x.kind === 'limit') return x.name === 'oo' ? 1 : x.name === '-oo' ? -1 : Number.NaN
  const top = x.kind === 'rational' ? x.p : x.mantissa
  return top > 0n ? 1 : top < 0n ? -1 : 0
}

/** How many bits the number takes, or how far its point stands from its digits. */
export function bitsOf(x: Num): number {
  if (x.kind === 'rational') return Math.max(bitLength(absolute(x.p)), bitLength(x.q)) - 1
  return x.kind === 'float' ? Math.abs(x.exponent + bitLength(absolute(x.mantissa))) : 1
}

export function modest<T extends Num>(x: T): T {
  if (bitsOf(x) > MAX_BITS) throw new Refused('too big a number')
  return x
}

export function negate(x: Num): Num {
  if (x.kind === 'rational') return { ...x, p: -x.p }
  if (x.kind === 'float') return { ...x, mantissa: -x.mantissa }
  return x.name === 'oo' ? { ...x, name: '-oo' } : x.name === '-oo' ? { ...x, name: 'oo' } : x
}

export function add(a: Num, b: Num): Num {
  if (a.kind === 'limit' || b.kind === 'limit') return addLimits(a, b)
  if (a.kind === 'rational' && b.kind === 'rational') return modest(addRationals(a, b))
  const precision = precisionFor(a, b)
  const [x, y] = [asFloat(a, precision), asFloat(b, precision)]
  const low = Math.min(x.exponent, y.exponent)
  const sum = (x.mantissa << BigInt(x.exponent - low)) + (y.mantissa << BigInt(y.exponent - low))
  return vanishing(rounded(sum, low, precision))
}

export function multiply(a: Num, b: Num): Num {
  if (a.kind === 'limit' || b.kind === 'limit') return multiplyLimits(a, b)
  if (a.kind === 'rational' && b.kind === 'rational') return modest(multiplyRationals(a, b))
  const precision = precisionFor(a, b)
  const [x, y] = [asFloat(a, precision), asFloat(b, precision)]
  return vanishing(rounded(x.mantissa * y.mantissa, x.exponent + y.exponent, precision))
}

/** Over a rational number a float is divided at once; elsewhere sympy multiplies by the inverse. */
export function divide(a: Num, b: Num): Num {
  if (a.kind === 'float' && b.kind !== 'limit' && !isZero(b)) {
    const precision = precisionFor(a, b)
    const [x, y] = [exactly(asFloat(a, precision)), exactly(asFloat(b, precision))]
    return vanishing(toFloat(x.p * y.q, x.q * y.p, precision))
  }
  return multiply(a, powerOf(b, -1n))
}

/** x ** n for a whole n. */
export function powerOf(x: Num, n: bigint): Num {
  if (n === 0n) return ONE
  if (x.kind === 'limit') return powerOfLimit(x, n)
  if (isZero(x)) return n > 0n ? x : ZOO
  if (x.kind === 'float') return floatPower(x, n)
  const [p, q] = n < 0n ? [x.q, x.p] : [x.p, x.q]
  if (bitsOf(x) > 0 && bitsOf(x) * Number(absolute(n)) > MAX_BITS) throw new Refused('too big a power')
  const size = bitsOf(x) === 0 ? n % 2n : n
  return ratio(p ** absolute(size), q ** absolute(size))
}

/** p / q at a precision, ties to even. */
export function toFloat(p: bigint, q: bigint, precision: number): Float {
  const [top, bottom] = q < 0n ? [-p, -q] : [p, q]
  const shift = Math.max(0, precision + 2 + bitLength(bottom) - bitLength(absolute(top)))
  const scaled = absolute(top) << BigInt(shift)
  const quotient = scaled / bottom
  const sticky = quotient * 2n + (quotient * bottom === scaled ? 0n : 1n)
  return rounded(top < 0n ? -sticky : sticky, -shift - 1, precision)
}

export function asFloat(x: Rational | Float, precision: number): Float {
  return x.kind === 'float' ? x : toFloat(x.p, x.q, precision)
}

export function precisionFor(a: Num, b: Num): number {
  return Math.max(a.kind === 'float' ? a.precision : 0, b.kind === 'float' ? b.precision : 0)
}

export function absolute(x: bigint): bigint {
  return x < 0n ? -x : x
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

/** A float that comes out as zero is sympy's exact zero. */
function vanishing(x: Float): Num {
  return x.mantissa === 0n ? ZERO : modest(x)
}

function precisionOf(digits: number): number {
  return Math.round((digits + 1) * 3.3219280948873626)
}

/** Two fractions; each gcd is of small numbers where one of the two is small. */
function addRationals(a: Rational, b: Rational): Rational {
  if (a.q === 1n && b.q === 1n) return { kind: 'rational', p: a.p + b.p, q: 1n }
  const shared = gcd(a.q, b.q)
  const top = a.p * (b.q / shared) + b.p * (a.q / shared)
  const rest = gcd(top, shared)
  return { kind: 'rational', p: top / rest, q: (a.q / shared) * (b.q / rest) }
}

function multiplyRationals(a: Rational, b: Rational): Rational {
  if (a.q === 1n && b.q === 1n) return { kind: 'rational', p: a.p * b.p, q: 1n }
  const [left, right] = [gcd(a.p, b.q), gcd(b.p, a.q)]
  return { kind: 'rational', p: (a.p / left) * (b.p / right), q: (a.q / right) * (b.q / left) }
}

function floatPower(x: Float, n: bigint): Num {
  const size = Number(absolute(n))
  if (size * Math.abs(Math.log2(Math.abs(toDouble(x)))) > 2 * MAX_BITS) throw new Refused('too big a power')
  if (n === -1n) return vanishing(inverse(x, x.precision))
  if (n < 0n) return vanishing(inverse(repeated({ ...x, precision: x.precision + 5 }, -n), x.precision))
  return vanishing(repeated(x, n))
}

function inverse(x: Float, precision: number): Float {
  const { p, q } = exactly(x)
  return toFloat(q, p, precision)
}

/** By squares, with some bits more than wanted on the way. */
function repeated(x: Float, n: bigint): Float {
  const wide = x.precision + 4 * bitLength(n) + 16
  let [mantissa, exponent, square, left] = [1n, 0, { ...x, precision: wide }, n]
  for (; left > 0n; left >>= 1n) {
    if (left & 1n) {
      const product = rounded(mantissa * square.mantissa, exponent + square.exponent, wide)
      mantissa = product.mantissa
      exponent = product.exponent
    }
    square = rounded(square.mantissa * square.mantissa, square.exponent * 2, wide)
  }
  return rounded(mantissa, exponent, x.precision)
}

function addLimits(a: Num, b: Num): Num {
  if (a.kind !== 'limit') return b
  if (b.kind !== 'limit') return a
  return a.name === b.name && a.name !== 'zoo' ? a : NAN
}

function multiplyLimits(a: Num, b: Num): Num {
  if (keyOf(a) === 'nan' || keyOf(b) === 'nan' || isZero(a) || isZero(b)) return NAN
  if (keyOf(a) === 'zoo' || keyOf(b) === 'zoo') return ZOO
  return { kind: 'limit', name: signOf(a) * signOf(b) > 0 ? 'oo' : '-oo' }
}

function powerOfLimit(x: Limit, n: bigint): Num {
  if (x.name === 'nan') return NAN
  if (n < 0n) return ZERO
  return x.name === '-oo' && n % 2n === 0n ? { ...x, name: 'oo' } : x
}

function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [absolute(a), absolute(b)]
  while (y !== 0n) [x, y] = [y, x % y]
  return x
}
