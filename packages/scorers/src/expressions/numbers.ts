/** Numbers as sympy has them: exact fractions, binary floats of a given precision, and infinities. */

import { bitLength, ratioToFloat } from '../python/numbers.ts'
import { SAFE_EVAL_LIMITS } from '../safe-eval-limits.ts'
import * as floats from './floats.ts'
import { absBigInt, type BigFloat } from './floats.ts'
import { UnsupportedExpressionError } from './tokens.ts'

/** In lowest terms, q > 0. */
export interface Rational {
  kind: 'rational'
  p: bigint
  q: bigint
}

/** `zoo` is infinity without a direction, as of 1/0. */
export interface Limit {
  kind: 'limit'
  name: 'oo' | '-oo' | 'zoo' | 'nan'
}

export type Num = Rational | BigFloat | Limit

export const ZERO: Rational = { kind: 'rational', p: 0n, q: 1n }
export const ONE: Rational = { kind: 'rational', p: 1n, q: 1n }
export const MINUS_ONE: Rational = { kind: 'rational', p: -1n, q: 1n }
export const HALF: Rational = { kind: 'rational', p: 1n, q: 2n }
/** Python's own truths, known by their identity: they compare like 1 and 0 but are no operands. */
export const TRUE: Rational = { ...ONE }
export const FALSE: Rational = { ...ZERO }
export const NAN: Limit = { kind: 'limit', name: 'nan' }
export const ZOO: Limit = { kind: 'limit', name: 'zoo' }

export function createInteger(p: bigint): Rational {
  return { kind: 'rational', p, q: 1n }
}

/** p / q in lowest terms; `zoo` or `nan` for q = 0. */
export function createRatio(p: bigint, q: bigint): Rational | Limit {
  if (q === 0n) return p === 0n ? NAN : ZOO
  const divisor = getCommonDivisor(p, q) * (q < 0n ? -1n : 1n)
  return { kind: 'rational', p: p / divisor, q: q / divisor }
}

/** The float nearest to x, in double precision. */
export function doubleToNum(x: number): Num {
  if (Number.isFinite(x)) return normalizeZero(floats.doubleToBigFloat(x))
  return Number.isNaN(x) ? NAN : { kind: 'limit', name: x > 0 ? 'oo' : '-oo' }
}

export function numToDouble(x: Num): number {
  if (x.kind === 'limit') return x.name === 'oo' ? Infinity : x.name === '-oo' ? -Infinity : Number.NaN
  const { p, q } = toRatio(x)
  return ratioToFloat(p, q)
}

export function getNumKey(x: Num): string {
  if (x.kind === 'rational') return x.q === 1n ? String(x.p) : `${x.p}/${x.q}`
  return x.kind === 'float' ? `${x.mantissa}p${x.exponent}` : x.name
}

/** The value of an exact whole number; `2.0` is none. */
export function toIntegerOrUndefined(x: Num): bigint | undefined {
  return x.kind === 'rational' && x.q === 1n ? x.p : undefined
}

export function isZero(x: Num): boolean {
  return getNumSign(x) === 0
}

/** Exactly one: `1.0` is not. */
export function isOne(x: Num): boolean {
  return x.kind === 'rational' && x.p === 1n && x.q === 1n
}

/** NaN for what has no sign. */
export function getNumSign(x: Num): number {
  if (x.kind === 'limit') return x.name === 'oo' ? 1 : x.name === '-oo' ? -1 : Number.NaN
  const top = x.kind === 'rational' ? x.p : x.mantissa
  return top > 0n ? 1 : top < 0n ? -1 : 0
}

/** The whole part; throws UnsupportedExpressionError if there is none. */
export function truncateNum(x: Num): bigint {
  const { p, q } = toRatio(x)
  return p / q
}

export function floorNum(x: Num): bigint {
  const { p, q } = toRatio(x)
  return p / q - (p < 0n && p % q !== 0n ? 1n : 0n)
}

/** A fraction, or a float as one that is not in lowest terms. */
function toRatio(x: Num): { p: bigint; q: bigint } {
  if (x.kind === 'limit') throw new UnsupportedExpressionError('no finite number')
  return x.kind === 'rational' ? x : floats.toExactRatio(x)
}

/** How many bits the number takes, or how far its point stands from its digits. */
export function countNumBits(x: Num): number {
  if (x.kind === 'rational') return Math.max(bitLength(absBigInt(x.p)), bitLength(x.q)) - 1
  return x.kind === 'float' ? Math.abs(x.exponent + bitLength(absBigInt(x.mantissa))) : 1
}

export function requireBoundedBits<T extends Num>(x: T): T {
  if (countNumBits(x) > SAFE_EVAL_LIMITS.bits) throw new UnsupportedExpressionError('too big a number')
  return x
}

export function negateNum(x: Num): Num {
  if (x.kind === 'rational') return { ...x, p: -x.p }
  if (x.kind === 'float') return { ...x, mantissa: -x.mantissa }
  return x.name === 'oo' ? { ...x, name: '-oo' } : x.name === '-oo' ? { ...x, name: 'oo' } : x
}

export function addNums(a: Num, b: Num): Num {
  if (a.kind === 'limit' || b.kind === 'limit') return addLimits(a, b)
  if (a.kind === 'rational' && b.kind === 'rational') return requireBoundedBits(addRationals(a, b))
  const precision = getCommonPrecision(a, b)
  return normalizeZero(floats.addFloats(toBigFloat(a, precision), toBigFloat(b, precision), precision))
}

export function multiplyNums(a: Num, b: Num): Num {
  if (a.kind === 'limit' || b.kind === 'limit') return multiplyLimits(a, b)
  if (a.kind === 'rational' && b.kind === 'rational') return requireBoundedBits(multiplyRationals(a, b))
  const precision = getCommonPrecision(a, b)
  return normalizeZero(floats.multiplyFloats(toBigFloat(a, precision), toBigFloat(b, precision), precision))
}

/** Over a rational number a float is divided at once; elsewhere sympy multiplies by the inverse. */
export function divideNums(a: Num, b: Num): Num {
  if (a.kind === 'float' && b.kind !== 'limit' && !isZero(b)) {
    const precision = getCommonPrecision(a, b)
    return normalizeZero(floats.divideFloats(a, toBigFloat(b, precision), precision))
  }
  return multiplyNums(a, raiseNum(b, -1n))
}

/** x ** n for a whole n. */
export function raiseNum(x: Num, n: bigint): Num {
  if (n === 0n) return ONE
  if (x.kind === 'limit') return raiseLimit(x, n)
  if (isZero(x)) return n > 0n ? x : ZOO
  if (x.kind === 'float') return normalizeZero(floats.raiseBigFloat(x, n))
  const [p, q] = n < 0n ? [x.q, x.p] : [x.p, x.q]
  if (countNumBits(x) > 0 && countNumBits(x) * Number(absBigInt(n)) > SAFE_EVAL_LIMITS.bits)
    throw new UnsupportedExpressionError('too big a power')
  const size = countNumBits(x) === 0 ? n % 2n : n
  return createRatio(p ** absBigInt(size), q ** absBigInt(size))
}

export function toBigFloat(x: Rational | BigFloat, precision: number): BigFloat {
  return x.kind === 'float' ? x : floats.ratioToBigFloat(x.p, x.q, precision)
}

export function getCommonPrecision(a: Num, b: Num): number {
  return Math.max(a.kind === 'float' ? a.precision : 0, b.kind === 'float' ? b.precision : 0)
}

/** A float that comes out as zero is sympy's exact zero. */
function normalizeZero(x: BigFloat): Num {
  return x.mantissa === 0n ? ZERO : requireBoundedBits(x)
}

/** Two fractions; each divisor is of small numbers where one of the two is small. */
function addRationals(a: Rational, b: Rational): Rational {
  if (a.q === 1n && b.q === 1n) return { kind: 'rational', p: a.p + b.p, q: 1n }
  const shared = getCommonDivisor(a.q, b.q)
  const top = a.p * (b.q / shared) + b.p * (a.q / shared)
  const rest = getCommonDivisor(top, shared)
  return { kind: 'rational', p: top / rest, q: (a.q / shared) * (b.q / rest) }
}

function multiplyRationals(a: Rational, b: Rational): Rational {
  if (a.q === 1n && b.q === 1n) return { kind: 'rational', p: a.p * b.p, q: 1n }
  const [left, right] = [getCommonDivisor(a.p, b.q), getCommonDivisor(b.p, a.q)]
  return { kind: 'rational', p: (a.p / left) * (b.p / right), q: (a.q / right) * (b.q / left) }
}

function addLimits(a: Num, b: Num): Num {
  if (a.kind !== 'limit') return b
  if (b.kind !== 'limit') return a
  return a.name === b.name && a.name !== 'zoo' ? a : NAN
}

function multiplyLimits(a: Num, b: Num): Num {
  if (getNumKey(a) === 'nan' || getNumKey(b) === 'nan' || isZero(a) || isZero(b)) return NAN
  if (getNumKey(a) === 'zoo' || getNumKey(b) === 'zoo') return ZOO
  return { kind: 'limit', name: getNumSign(a) * getNumSign(b) > 0 ? 'oo' : '-oo' }
}

function raiseLimit(x: Limit, n: bigint): Num {
  if (x.name === 'nan') return NAN
  if (n < 0n) return ZERO
  return x.name === '-oo' && n % 2n === 0n ? { ...x, name: 'oo' } : x
}

export function getCommonDivisor(a: bigint, b: bigint): bigint {
  let [x, y] = [absBigInt(a), absBigInt(b)]
  while (y !== 0n) [x, y] = [y, x % y]
  return x
}
