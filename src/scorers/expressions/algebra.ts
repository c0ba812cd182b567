/**
 * Expressions in the form that sympy gives them by itself: like terms are added up, powers of one base collected, a number
 * is multiplied into a sum, and no more. `2*(x + 1)` is `2*x + 2`; `x*(x + 1)` stays. Two are equal when their keys are.
 */
import * as num from './numbers.ts'
import { type Num, Refused } from './numbers.ts'

/** A name that stands for itself: a variable, a constant such as pi, or a function of something. */
export interface Atom {
  kind: 'atom'
  name: string
  /** Undefined for a variable or constant. */
  args: readonly Expr[] | undefined
  key: string
}

/** coefficient · product. */
export interface Term {
  kind: 'term'
  coefficient: Num
  product: Product
}

/** One factor or more, in any order. */
export class Product {
  readonly factors: readonly Factor[]
  #key: string | undefined

  constructor(factors: readonly Factor[]) {
    this.factors = factors
  }

  /** Written at the first call: most products and sums are but a step to others. */
  get key(): string {
    this.#key ??= this.factors.map((factor) => `${factor.key}^${num.keyOf(factor.times)}`).sort().join('*') // biome-ignore format: one line
    return this.#key
  }
}

/** base ** (times · unit): powers of equal base and unit are one factor. */
export interface Factor {
  /** A number, where its power cannot be worked out: a prime or -1 under a root, anything under a variable exponent. */
  base: Atom | Sum | Term | Num
  times: Num
  /** What an exponent is beside its number; 1 for none. */
  unit: Expr
  key: string
}

/** number + terms; one term at least, two parts in all. */
export class Sum {
  readonly kind = 'sum'
  readonly number: Num
  readonly terms: readonly Term[]
  #key: string | undefined

  constructor(number: Num, terms: readonly Term[]) {
    this.number = number
    this.terms = terms
  }

  get key(): string {
    this.#key ??= `(${[num.keyOf(this.number), ...this.terms.map(keyOf).sort()].join('+')})`
    return this.#key
  }
}

export type Expr = Num | Term | Sum

export function isNum(x: Expr | Atom): x is Num {
  return x.kind === 'rational' || x.kind === 'float' || x.kind === 'limit'
}

export function keyOf(x: Expr | Atom): string {
  if (isNum(x)) return num.keyOf(x)
  return x.kind === 'term' ? `${num.keyOf(x.coefficient)}*${x.product.key}` : x.key
}

export function symbol(name: string): Term {
  return termOf(num.ONE, [factorOf({ kind: 'atom', name, args: undefined, key: name }, num.ONE)])
}

export function call(name: string, args: readonly Expr[]): Term {
  const key = `${name}(${args.map(keyOf).join(',')})`
  return termOf(num.ONE, [factorOf({ kind: 'atom', name, args, key }, num.ONE)])
}

/** The square root of -1. */
export const I = termOf(num.ONE, [factorOf(num.MINUS_ONE, num.HALF)])

export function negate(x: Expr): Expr {
  return multiply(num.MINUS_ONE, x)
}

/** The sum of one part or more, from left to right. */
export function add(parts: readonly Expr[]): Expr {
  let number: Num | undefined
  const terms = new Map<string, Term>()
  for (const part of parts) {
    if (part.kind === 'term') collect(terms, part)
    if (part.kind === 'sum') for (const term of part.terms) collect(terms, term)
    const constant = isNum(part) ? part : part.kind === 'sum' ? part.number : num.ZERO
    // Beside a term 0.0 is nothing, beside a number it makes a float of it.
    const isNothing = num.isZero(constant) && terms.size > 0
    if (!isNothing) number = number === undefined ? constant : num.add(number, constant)
  }
  return sumOf(number ?? num.ZERO, [...terms.values()])
}

function collect(terms: Map<string, Term>, term: Term): void {
  const { key } = term.product
  const known = terms.get(key)
  if (known === undefined) terms.set(key, term)
  else terms.set(key, { ...term, coefficient: num.add(known.coefficient, term.coefficient) })
}

function sumOf(number: Num, all: readonly Term[]): Expr {
  if ([number, ...all.map((term) => term.coefficient)].some((n) => num.keyOf(n) === 'nan')) return num.NAN
  const terms = all.filter((term) => !num.isZero(term.coefficient))
  const [first] = terms
  if (first === undefined) return number
  if (terms.length === 1 && num.isZero(number)) return withCoefficient(first.coefficient, first)
  return new Sum(num.isZero(number) ? num.ZERO : number, terms)
}

export function multiply(a: Expr, b: Expr): Expr {
  if (isNum(a)) return isNum(b) ? num.multiply(a, b) : scale(a, b)
  if (isNum(b)) return scale(b, a)
  const coefficient = num.multiply(coefficientOf(a), coefficientOf(b))
  const factors = new Map<string, Factor>()
  for (const factor of [...factorsOf(a), ...factorsOf(b)]) {
    const known = factors.get(factor.key)
    const times = known === undefined ? factor.times : num.add(known.times, factor.times)
    factors.set(factor.key, { ...factor, times })
  }
  return productOf(coefficient, [...factors.values()])
}

export function divide(a: Expr, b: Expr): Expr {
  return isNum(a) && isNum(b) ? num.divide(a, b) : multiply(a, power(b, num.MINUS_ONE))
}

/** A number is multiplied into a sum. */
function scale(number: Num, x: Term | Sum): Expr {
  if (number.kind === 'limit' && x.kind === 'sum') return productOf(number, factorsOf(x))
  if (x.kind === 'term') return withCoefficient(num.multiply(number, x.coefficient), x)
  const terms = x.terms.map((term) => ({ ...term, coefficient: num.multiply(number, term.coefficient) }))
  return sumOf(num.multiply(number, x.number), terms)
}

function withCoefficient(coefficient: Num, term: Term): Expr {
  if (num.isZero(coefficient)) return num.ZERO
  return num.keyOf(coefficient) === 'nan' ? num.NAN : simplest({ ...term, coefficient })
}

/** A sum with nothing but a number in front of it is a sum. */
function simplest(term: Term): Expr {
  const [only, second] = term.product.factors
  if (only?.base.kind !== 'sum' || second !== undefined || !num.isOne(only.times) || !isUnit(only.unit)) return term
  if (num.isOne(term.coefficient)) return only.base
  return term.coefficient.kind === 'limit' ? term : scale(term.coefficient, only.base)
}

function coefficientOf(x: Term | Sum): Num {
  return x.kind === 'term' ? x.coefficient : num.ONE
}

function factorsOf(x: Term | Sum): readonly Factor[] {
  return x.kind === 'term' ? x.product.factors : [factorOf(x, num.ONE)]
}

/** Of factors with different keys: what has become a number or a product joins the others. */
function productOf(coefficient: Num, all: readonly Factor[]): Expr {
  let number = coefficient
  const factors: Factor[] = []
  const products: Expr[] = []
  for (const factor of all) {
    if (num.isZero(factor.times)) continue
    if (isNum(factor.base) && isUnit(factor.unit)) {
      const { whole, rest } = split(factor.times)
      number = num.multiply(number, num.powerOf(factor.base, whole))
      if (!num.isZero(rest)) factors.push({ ...factor, times: rest })
    } else if (factor.base.kind === 'term' && isUnit(factor.unit) && num.integerOf(factor.times) !== undefined) {
      products.push(power(factor.base, factor.times))
    } else factors.push(factor)
  }
  const product = factors.length === 0 ? number : withCoefficient(number, termOf(number, factors))
  return products.reduce(multiply, product)
}

/** A rational exponent as a whole one and one of 0 to 1; a float stays. */
function split(times: Num): { whole: bigint; rest: Num } {
  if (times.kind !== 'rational') return { whole: 0n, rest: times }
  const whole = floorDivide(times.p, times.q)
  return { whole, rest: num.add(times, num.integer(-whole)) }
}

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

function limitPower(exponent: Num): Expr {
  if (num.keyOf(exponent) === 'zoo' || num.keyOf(exponent) === 'nan') return num.NAN
  throw new Refused('an infinite exponent')
}

/** (1/2)**x is 2**(-x). */
function variablePower(base: Num, exponent: Expr): Expr {
  const isInverse = base.kind === 'rational' && base.p === 1n
  return isInverse ? single(num.integer(base.q), negate(exponent)) : single(base, exponent)
}

function wholePower({ coefficient, product }: Term, exponent: bigint): Expr {
  const raised = product.factors.map((factor) => ({
    ...factor,
    times: num.multiply(factor.times, num.integer(exponent)),
  }))
  return productOf(num.powerOf(coefficient, exponent), raised)
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
  return x.kind === 'float' && x.exponent >= 0 && num.bitsOf(x) <= num.MAX_BITS ? num.exactly(x).p : undefined
}

/** The root of a positive fraction as roots of its primes. */
function root({ p, q }: num.Rational, exponent: num.Rational): Expr {
  const primes = [
    ...primesOf(p).map((prime) => [prime, exponent] as const),
    ...primesOf(q).map((prime) => [prime, num.negate(exponent)] as const),
  ]
  return primes.map(([prime, times]) => single(num.integer(prime), times)).reduce(multiply, num.ONE)
}

/** With repetition; what is left beyond the small primes counts as one. */
function primesOf(n: bigint): bigint[] {
  const primes: bigint[] = []
  let left = n
  for (let prime = 2n; prime < 32_768n && prime * prime <= left; prime += prime === 2n ? 1n : 2n) {
    for (; left % prime === 0n; left /= prime) primes.push(prime)
  }
  return left > 1n ? [...primes, left] : primes
}

function single(base: Factor['base'], exponent: Expr): Expr {
  if (isNum(exponent)) return productOf(num.ONE, [factorOf(base, exponent)])
  if (exponent.kind === 'sum') return productOf(num.ONE, [factorOf(base, num.ONE, exponent)])
  return productOf(num.ONE, [factorOf(base, exponent.coefficient, { ...exponent, coefficient: num.ONE })])
}

function termOf(coefficient: Num, factors: readonly Factor[]): Term {
  return { kind: 'term', coefficient, product: new Product(factors) }
}

function factorOf(base: Factor['base'], times: Num, unit: Expr = num.ONE): Factor {
  return { base, times, unit, key: isUnit(unit) ? keyOf(base) : `${keyOf(base)}^{${keyOf(unit)}}` }
}

function isUnit(unit: Expr): boolean {
  return isNum(unit)
}

function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b
  return quotient * b > a ? quotient - 1n : quotient
}
