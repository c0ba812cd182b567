/** Powers and roots of expressions. */
import { multiply, negate, productOf, wholePower } from './algebra.ts'
import { type Expr, type Factor, factorOf, isNum, isUnit, type Term, termOf } from './expr.ts'
import { exactly } from './floats.ts'
import type { Num } from './numbers.ts'
import * as num from './numbers.ts'
import { MAX_BITS, Refused } from './refused.ts'

/** As far as sympy looks for a factor under a root. */
const SMALL_PRIMES = 32_768

/** base ** exponent; throws Refused where that would grow beyond a double's range. */
export function power(base: Expr, exponent: Expr): Expr {
  if (isNum(exponent)) {
    if (exponent.kind === 'limit') return limitPower(exponent)
    if (num.keyOf(exponent) === '0' && exponent.kind === 'rational') return num.ONE
    if (num.isOne(exponent)) return base
  }
  if (isNum(base) && (num.isOne(base) || num.keyOf(base) === 'nan')) return base
  if (isNum(base)) return isNum(exponent) ? numberPower(base, exponent) : variablePower(base, exponent)
  if (base.kind === 'sum') return single(base, exponent)
  const whole = isNum(exponent) ? num.integerOf(exponent) : undefined
  return whole === undefined ? termPower(base, exponent) : wholePower(base, whole)
}

export function divide(a: Expr, b: Expr): Expr {
  return isNum(a) && isNum(b) ? num.divide(a, b) : multiply(a, power(b, num.MINUS_ONE))
}

function limitPower(exponent: Num): Expr {
  if (num.keyOf(exponent) === 'zoo' || num.keyOf(exponent) === 'nan') return num.NAN
  throw new Refused('an infinite exponent')
}

/** (1/2)**x is 2**(-x). */
function variablePower(base: Num, exponent: Expr): Expr {
  const isInverse = base.kind === 'rational' && base.p === 1n
  return isInverse ? single(num.integer(base.q), negate(exponent)) : single(base, exponent)
}

/** A positive number leaves the base; the rest of a product stays under the exponent as one. */
function termPower(base: Term, exponent: Expr): Expr {
  const [factor, second] = base.product.factors
  if (num.isOne(base.coefficient) && factor !== undefined && second === undefined) return nested(base, factor, exponent)
  if (!isNum(exponent) || base.coefficient.kind === 'limit') return single(base, exponent)
  const isNegative = num.signOf(base.coefficient) < 0
  const size = isNegative ? num.negate(base.coefficient) : base.coefficient
  const roots = base.product.factors.filter((one) => isPositive(one))
  const others = base.product.factors.filter((one) => !isPositive(one))
  if (num.isOne(size) && roots.length === 0) return single(base, exponent)
  const rest = others.length === 0 ? num.ONE : termOf(num.ONE, others)
  const positive = roots.map((one) => power(termOf(num.ONE, [one]), exponent))
  return [numberPower(size, exponent), ...positive].reduce(multiply, power(isNegative ? negate(rest) : rest, exponent))
}

/** (b**e)**exponent is b**(e*exponent) where -1 < e <= 1 or b is positive. */
function nested(base: Term, { base: inner, times, unit }: Factor, exponent: Expr): Expr {
  const isSafe = isUnit(unit) && (num.isOne(times) || Math.abs(num.toDouble(times)) < 1)
  const isRoot = isNum(inner) && num.signOf(inner) > 0 && isUnit(unit)
  return isSafe || isRoot ? single(inner, multiply(times, exponent)) : single(base, exponent)
}

function isPositive({ base, unit }: Factor): boolean {
  return isNum(base) && num.signOf(base) > 0 && isUnit(unit)
}

function numberPower(base: Num, exponent: Num): Expr {
  const whole = num.integerOf(exponent) ?? wholeOf(exponent)
  if (whole !== undefined) return num.powerOf(floated(base, exponent), whole)
  if (num.isZero(base)) return num.signOf(exponent) > 0 ? base : num.ZOO
  if (base.kind === 'limit') return limitRoot(base, exponent)
  const size = num.signOf(base) < 0 ? num.negate(base) : base
  const sign = size === base ? num.ONE : single(num.MINUS_ONE, exponent)
  if (exponent.kind === 'rational' && size.kind === 'rational') return multiply(sign, root(size, exponent))
  return multiply(sign, num.fromDouble(num.toDouble(size) ** num.toDouble(exponent)))
}

function limitRoot(base: num.Limit, exponent: Num): Expr {
  if (base.name === '-oo') throw new Refused('a root of minus infinity')
  return num.signOf(exponent) > 0 ? base : num.ZERO
}

/** A float exponent makes a float of the base. */
function floated(base: Num, exponent: Num): Num {
  return base.kind === 'limit' || exponent.kind !== 'float' ? base : num.asFloat(base, num.precisionFor(base, exponent))
}

function wholeOf(x: Num): bigint | undefined {
  return x.kind === 'float' && x.exponent >= 0 && num.bitsOf(x) <= MAX_BITS ? exactly(x).p : undefined
}

/** The root of a positive fraction as roots of its primes. */
function root({ p, q }: num.Rational, exponent: num.Rational): Expr {
  const primes = [
    ...primesOf(p).map((prime) => [prime, exponent] as const),
    ...primesOf(q).map((prime) => [prime, num.negate(exponent)] as const),
  ]
  return primes.map(([prime, times]) => single(num.integer(prime), times)).reduce(multiply, num.ONE)
}

/** With repetition; what is left beyond the small primes counts as one, and so does a number past 2 ** 53. */
function primesOf(n: bigint): bigint[] {
  if (n > BigInt(Number.MAX_SAFE_INTEGER)) return [n]
  const primes: bigint[] = []
  let left = Number(n)
  for (let prime = 2; prime < SMALL_PRIMES && prime * prime <= left; prime += prime === 2 ? 1 : 2) {
    for (; left % prime === 0; left /= prime) primes.push(BigInt(prime))
  }
  return left > 1 ? [...primes, BigInt(left)] : primes
}

function single(base: Factor['base'], exponent: Expr): Expr {
  if (isNum(exponent)) return productOf(num.ONE, [factorOf(base, exponent)])
  if (exponent.kind === 'sum') return productOf(num.ONE, [factorOf(base, num.ONE, exponent)])
  return productOf(num.ONE, [factorOf(base, exponent.coefficient, { ...exponent, coefficient: num.ONE })])
}
