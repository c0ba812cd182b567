/** Sums, products, powers and roots of expressions. */
import { SAFE_EVAL_LIMITS } from '../safe-eval-limits.ts'
import { createFactor, createTerm, type Expr, type Factor, isNum, isUnit, Sum, type Term } from './expr.ts'
import { toExactRatio } from './floats.ts'
import type { Num } from './numbers.ts'
import * as num from './numbers.ts'
import { UnsupportedExpressionError } from './tokens.ts'

export function negateExpr(x: Expr): Expr {
  return isNum(x) ? num.negateNum(x) : scaleExpr(num.MINUS_ONE, x)
}

/** The sum of one part or more, from left to right. */
export function addExprs(parts: readonly Expr[]): Expr {
  let number: Num | undefined
  const terms = new Map<string, Term>()
  for (const part of parts) {
    if (part.kind === 'term') collectTerm(terms, part)
    if (part.kind === 'sum') for (const term of part.terms) collectTerm(terms, term)
    const constant = isNum(part) ? part : part.kind === 'sum' ? part.number : num.ZERO
    // Beside a number 0.0 makes a float of it, beside a term it is nothing.
    if (!num.isZero(constant) || terms.size === 0)
      number = number === undefined ? constant : num.addNums(number, constant)
  }
  if (number === undefined || (num.isZero(number) && terms.size > 0)) number = num.ZERO
  return buildSum(number, [...terms.values()])
}

function collectTerm(terms: Map<string, Term>, term: Term): void {
  const { key } = term.product
  const known = terms.get(key)
  if (known === undefined) terms.set(key, term)
  else terms.set(key, { ...term, coefficient: num.addNums(known.coefficient, term.coefficient) })
}

function buildSum(number: Num, all: readonly Term[]): Expr {
  if ([number, ...all.map((term) => term.coefficient)].some((n) => num.getNumKey(n) === 'nan')) return num.NAN
  const terms = all.filter((term) => !num.isZero(term.coefficient))
  const [first] = terms
  if (first === undefined) return number
  if (terms.length === 1 && num.isZero(number)) return withCoefficient(first.coefficient, first)
  return new Sum(num.isZero(number) ? num.ZERO : number, terms)
}

export function multiplyExprs(a: Expr, b: Expr): Expr {
  if (isNum(a)) return isNum(b) ? num.multiplyNums(a, b) : scaleExpr(a, b)
  if (isNum(b)) return scaleExpr(b, a)
  const coefficient = num.multiplyNums(getCoefficient(a), getCoefficient(b))
  const factors = new Map<string, Factor>()
  for (const factor of [...getFactors(a), ...getFactors(b)]) {
    const known = factors.get(factor.key)
    const times = known === undefined ? factor.times : num.addNums(known.times, factor.times)
    factors.set(factor.key, { ...factor, times })
  }
  return buildProduct(coefficient, [...factors.values()])
}

/** A number is multiplied into a sum. */
function scaleExpr(number: Num, x: Term | Sum): Expr {
  if (number.kind === 'limit' && x.kind === 'sum') return buildProduct(number, getFactors(x))
  if (x.kind === 'term') return withCoefficient(num.multiplyNums(number, x.coefficient), x)
  const terms = x.terms.map((term) => ({ ...term, coefficient: num.multiplyNums(number, term.coefficient) }))
  return buildSum(num.multiplyNums(number, x.number), terms)
}

function withCoefficient(coefficient: Num, term: Term): Expr {
  if (num.isZero(coefficient)) return num.ZERO
  return num.getNumKey(coefficient) === 'nan' ? num.NAN : simplifyTerm({ ...term, coefficient })
}

/** A sum with nothing but a number in front of it is a sum. */
function simplifyTerm(term: Term): Expr {
  const [only, second] = term.product.factors
  if (only?.base.kind !== 'sum' || second !== undefined || !num.isOne(only.times) || !isUnit(only.unit)) return term
  if (num.isOne(term.coefficient)) return only.base
  return term.coefficient.kind === 'limit' ? term : scaleExpr(term.coefficient, only.base)
}

function getCoefficient(x: Term | Sum): Num {
  return x.kind === 'term' ? x.coefficient : num.ONE
}

function getFactors(x: Term | Sum): readonly Factor[] {
  return x.kind === 'term' ? x.product.factors : [createFactor(x, num.ONE)]
}

/** Of factors with different keys: what has become a number or a product joins the others. */
function buildProduct(coefficient: Num, all: readonly Factor[]): Expr {
  let number = coefficient
  const factors: Factor[] = []
  const products: Expr[] = []
  for (const factor of all) {
    const { base, times } = factor
    const whole = num.toIntegerOrUndefined(times)
    if (num.isZero(times)) continue
    if (isNum(base) && isUnit(factor.unit)) {
      const parts = splitExponent(times)
      number = num.multiplyNums(number, num.raiseNum(base, parts.whole))
      if (!num.isZero(parts.rest)) factors.push({ ...factor, times: parts.rest })
    } else if (base.kind === 'term' && isUnit(factor.unit) && whole !== undefined) {
      products.push(raiseTermToInteger(base, whole))
    } else factors.push(factor)
  }
  const product = factors.length === 0 ? number : withCoefficient(number, createTerm(number, factors))
  return products.reduce(multiplyExprs, product)
}

function raiseTermToInteger({ coefficient, product }: Term, exponent: bigint): Expr {
  const raised = product.factors.map((factor) => ({
    ...factor,
    times: num.multiplyNums(factor.times, num.createInteger(exponent)),
  }))
  return buildProduct(num.raiseNum(coefficient, exponent), raised)
}

/** A rational exponent as a whole one and one of 0 to 1; a float stays. */
function splitExponent(times: Num): { whole: bigint; rest: Num } {
  if (times.kind !== 'rational') return { whole: 0n, rest: times }
  const whole = num.floorNum(times)
  return { whole, rest: num.addNums(times, num.createInteger(-whole)) }
}

/** As far as sympy looks for a factor under a root. */
const MAX_SMALL_PRIME = 32_768

/** base ** exponent; throws UnsupportedExpressionError where that would grow beyond a double's range. */
export function raiseExpr(base: Expr, exponent: Expr): Expr {
  if (isNum(exponent)) {
    if (exponent.kind === 'limit') return raiseToLimit(exponent)
    if (num.getNumKey(exponent) === '0' && exponent.kind === 'rational') return num.ONE
    if (num.isOne(exponent)) return base
  }
  if (isNum(base) && (num.isOne(base) || num.getNumKey(base) === 'nan')) return base
  if (isNum(base)) return isNum(exponent) ? raiseNumToNum(base, exponent) : raiseNumToVariable(base, exponent)
  if (base.kind === 'sum') return createPower(base, exponent)
  const whole = isNum(exponent) ? num.toIntegerOrUndefined(exponent) : undefined
  return whole === undefined ? raiseTerm(base, exponent) : raiseTermToInteger(base, whole)
}

export function divideExprs(a: Expr, b: Expr): Expr {
  return isNum(a) && isNum(b) ? num.divideNums(a, b) : multiplyExprs(a, raiseExpr(b, num.MINUS_ONE))
}

function raiseToLimit(exponent: Num): Expr {
  if (num.getNumKey(exponent) === 'zoo' || num.getNumKey(exponent) === 'nan') return num.NAN
  throw new UnsupportedExpressionError('an infinite exponent')
}

/** (1/2)**x is 2**(-x). */
function raiseNumToVariable(base: Num, exponent: Expr): Expr {
  const isInverse = base.kind === 'rational' && base.p === 1n
  return isInverse ? createPower(num.createInteger(base.q), negateExpr(exponent)) : createPower(base, exponent)
}

/** A positive number leaves the base; the rest of a product stays under the exponent as one. */
function raiseTerm(base: Term, exponent: Expr): Expr {
  const [factor, second] = base.product.factors
  if (num.isOne(base.coefficient) && factor !== undefined && second === undefined)
    return raiseNestedPower(base, factor, exponent)
  if (!isNum(exponent) || base.coefficient.kind === 'limit') return createPower(base, exponent)
  const isNegative = num.getNumSign(base.coefficient) < 0
  const size = isNegative ? num.negateNum(base.coefficient) : base.coefficient
  const roots = base.product.factors.filter((one) => isPositive(one))
  const others = base.product.factors.filter((one) => !isPositive(one))
  if (num.isOne(size) && roots.length === 0) return createPower(base, exponent)
  const rest = others.length === 0 ? num.ONE : createTerm(num.ONE, others)
  const positive = roots.map((one) => raiseExpr(createTerm(num.ONE, [one]), exponent))
  return [raiseNumToNum(size, exponent), ...positive].reduce(
    multiplyExprs,
    raiseExpr(isNegative ? negateExpr(rest) : rest, exponent),
  )
}

/** (b**e)**exponent is b**(e*exponent) where -1 < e <= 1 or b is positive. */
function raiseNestedPower(base: Term, { base: inner, times, unit }: Factor, exponent: Expr): Expr {
  const isSafe = isUnit(unit) && (num.isOne(times) || Math.abs(num.numToDouble(times)) < 1)
  const isRoot = isNum(inner) && num.getNumSign(inner) > 0 && isUnit(unit)
  return isSafe || isRoot ? createPower(inner, multiplyExprs(times, exponent)) : createPower(base, exponent)
}

function isPositive({ base, unit }: Factor): boolean {
  return isNum(base) && num.getNumSign(base) > 0 && isUnit(unit)
}

function raiseNumToNum(base: Num, exponent: Num): Expr {
  const whole = num.toIntegerOrUndefined(exponent) ?? toIntegerExponent(exponent)
  if (whole !== undefined) return num.raiseNum(matchFloatPrecision(base, exponent), whole)
  if (num.isZero(base)) return num.getNumSign(exponent) > 0 ? base : num.ZOO
  if (base.kind === 'limit') return rootOfLimit(base, exponent)
  const size = num.getNumSign(base) < 0 ? num.negateNum(base) : base
  const sign = size === base ? num.ONE : createPower(num.MINUS_ONE, exponent)
  if (exponent.kind === 'rational' && size.kind === 'rational')
    return multiplyExprs(sign, rootOfRational(size, exponent))
  return multiplyExprs(sign, num.doubleToNum(num.numToDouble(size) ** num.numToDouble(exponent)))
}

function rootOfLimit(base: num.Limit, exponent: Num): Expr {
  if (base.name === '-oo') throw new UnsupportedExpressionError('a root of minus infinity')
  return num.getNumSign(exponent) > 0 ? base : num.ZERO
}

/** A float exponent makes a float of the base. */
function matchFloatPrecision(base: Num, exponent: Num): Num {
  return base.kind === 'limit' || exponent.kind !== 'float'
    ? base
    : num.toBigFloat(base, num.getCommonPrecision(base, exponent))
}

function toIntegerExponent(x: Num): bigint | undefined {
  return x.kind === 'float' && x.exponent >= 0 && num.countNumBits(x) <= SAFE_EVAL_LIMITS.bits
    ? toExactRatio(x).p
    : undefined
}

/** The root of a positive fraction as roots of its primes. */
function rootOfRational({ p, q }: num.Rational, exponent: num.Rational): Expr {
  const primes = [
    ...factorize(p).map((prime) => [prime, exponent] as const),
    ...factorize(q).map((prime) => [prime, num.negateNum(exponent)] as const),
  ]
  return primes.map(([prime, times]) => createPower(num.createInteger(prime), times)).reduce(multiplyExprs, num.ONE)
}

/** With repetition; what is left beyond the small primes counts as one, and so does a number past 2 ** 53. */
function factorize(n: bigint): bigint[] {
  if (n > BigInt(Number.MAX_SAFE_INTEGER)) return [n]
  const primes: bigint[] = []
  let left = Number(n)
  for (let prime = 2; prime < MAX_SMALL_PRIME && prime * prime <= left; prime += prime === 2 ? 1 : 2) {
    for (; left % prime === 0; left /= prime) primes.push(BigInt(prime))
  }
  return left > 1 ? [...primes, BigInt(left)] : primes
}

function createPower(base: Factor['base'], exponent: Expr): Expr {
  if (isNum(exponent)) return buildProduct(num.ONE, [createFactor(base, exponent)])
  if (exponent.kind === 'sum') return buildProduct(num.ONE, [createFactor(base, num.ONE, exponent)])
  return buildProduct(num.ONE, [createFactor(base, exponent.coefficient, { ...exponent, coefficient: num.ONE })])
}
