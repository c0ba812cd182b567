/** Numbers as sympy has them: exact fractions, binary floats of a given precision, and infinities. */
import { bitLength, ratioToFloat } from '../python/numbers.ts'
import * as floats from './floats.ts'
import { absolute, type Float } from './floats.ts'
import { MAX_BITS, Refused } from './refused.ts'

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

export type Num = Rational | Float | Limit

export const ZERO: Rational = { kind: 'rational', p: 0n, q: 1n }
export const ONE: Rational = { kind: 'rational', p: 1n, q: 1n }
export const MINUS_ONE: Rational = { kind: 'rational', p: -1n, q: 1n }
export const HALF: Rational = { kind: 'rational', p: 1n, q: 2n }
/** Python's own truths, known by their identity: they compare like 1 and 0 but are no operands. */
export const TRUE: Rational = { ...ONE }
export const FALSE: Rational = { ...ZERO }
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

/** The float nearest to x, in double precision. */
export function fromDouble(x: number): Num {
  if (Number.isFinite(x)) return vanishing(floats.fromDouble(x))
  return Number.isNaN(x) ? NAN : { kind: 'limit', name: x > 0 ? 'oo' : '-oo' }
}

export function toDouble(x: Num): number {
  switch (x.kind) {
    case 'rational':
      return ratioToFloat(x.p, x.q)
    case 'float': {
      const { p, q } = floats.exactly(x)
      return ratioToFloat(p, q)
    }
    case 'limit':
      return x.name === 'oo' ? Infinity : x.name === '-oo' ? -Infinity : Number.NaN
  }
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
  return vanishing(floats.addFloats(asFloat(a, precision), asFloat(b, precision), precision))
}

export function multiply(a: Num, b: Num): Num {
  if (a.kind === 'limit' || b.kind === 'limit') return multiplyLimits(a, b)
  if (a.kind === 'rational' && b.kind === 'rational') return modest(multiplyRationals(a, b))
  const precision = precisionFor(a, b)
  return vanishing(floats.multiplyFloats(asFloat(a, precision), asFloat(b, precision), precision))
}

/** Over a rational number a float is divided at once; elsewhere sympy multiplies by the inverse. */
export function divide(a: Num, b: Num): Num {
  if (a.kind === 'float' && b.kind !== 'limit' && !isZero(b)) {
    const precision = precisionFor(a, b)
    return vanishing(floats.divideFloats(a, asFloat(b, precision), precision))
  }
  return multiply(a, powerOf(b, -1n))
}

/** x ** n for a whole n. */
export function powerOf(x: Num, n: bigint): Num {
  if (n === 0n) return ONE
  if (x.kind === 'limit') return powerOfLimit(x, n)
  if (isZero(x)) return n > 0n ? x : ZOO
  if (x.kind === 'float') return vanishing(floats.floatPower(x, n))
  const [p, q] = n < 0n ? [x.q, x.p] : [x.p, x.q]
  if (bitsOf(x) > 0 && bitsOf(x) * Number(absolute(n)) > MAX_BITS) throw new Refused('too big a power')
  const size = bitsOf(x) === 0 ? n % 2n : n
  return ratio(p ** absolute(size), q ** absolute(size))
}

export function asFloat(x: Rational | Float, precision: number): Float {
  return x.kind === 'float' ? x : floats.toFloat(x.p, x.q, precision)
}

export function precisionFor(a: Num, b: Num): number {
  return Math.max(a.kind === 'float' ? a.precision : 0, b.kind === 'float' ? b.precision : 0)
}

/** A float that comes out as zero is sympy's exact zero. */
function vanishing(x: Float): Num {
  return x.mantissa === 0n ? ZERO : modest(x)
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
