/** Sums and products of expressions. */
import { createFactor, createTerm, type Expr, type Factor, isNum, isUnit, Sum, type Term } from './expr.ts'
import type { Num } from './numbers.ts'
import * as num from './numbers.ts'

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
export function buildProduct(coefficient: Num, all: readonly Factor[]): Expr {
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

export function raiseTermToInteger({ coefficient, product }: Term, exponent: bigint): Expr {
  const raised = product.factors.map((factor) => ({
    ...factor,
    times: num.multiplyNums(factor.times, num.createInteger(exponent)),
  }))
  return buildProduct(num.raiseNum(coefficient, exponent), raised)
}

/** A rational exponent as a whole one and one of 0 to 1; a float stays. */
function splitExponent(times: Num): { whole: bigint; rest: Num } {
  if (times.kind !== 'rational') return { whole: 0n, rest: times }
  const whole = floorDivide(times.p, times.q)
  return { whole, rest: num.addNums(times, num.createInteger(-whole)) }
}

function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b
  return quotient * b > a ? quotient - 1n : quotient
}
