/**
 * Expressions in the form that sympy gives them by itself: like terms are added up, powers of one base collected, a number
 * is multiplied into a sum, and no more. `2*(x + 1)` is `2*x + 2`; `x*(x + 1)` stays. Two are equal when their keys are.
 */

import type { Num } from './numbers.ts'
import * as num from './numbers.ts'

/** A symbol: a variable, a constant such as pi, or a function of something. */
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
    this.#key ??= this.factors.map(getPowerKey).sort().join('*')
    return this.#key
  }
}

function getPowerKey({ key, times }: Factor): string {
  return `${key}^${num.getNumKey(times)}`
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
    this.#key ??= `(${[num.getNumKey(this.number), ...this.terms.map(getExprKey).sort()].join('+')})`
    return this.#key
  }
}

export type Expr = Num | Term | Sum

export function isNum(x: Expr | Atom): x is Num {
  return x.kind === 'rational' || x.kind === 'float' || x.kind === 'limit'
}

export function getExprKey(x: Expr | Atom): string {
  if (isNum(x)) return num.getNumKey(x)
  return x.kind === 'term' ? `${num.getNumKey(x.coefficient)}*${x.product.key}` : x.key
}

export function createSymbol(name: string): Term {
  return createTerm(num.ONE, [createFactor({ kind: 'atom', name, args: undefined, key: name }, num.ONE)])
}

export function createCall(name: string, args: readonly Expr[]): Term {
  const key = `${name}(${args.map(getExprKey).join(',')})`
  return createTerm(num.ONE, [createFactor({ kind: 'atom', name, args, key }, num.ONE)])
}

export function createTerm(coefficient: Num, factors: readonly Factor[]): Term {
  return { kind: 'term', coefficient, product: new Product(factors) }
}

export function createFactor(base: Factor['base'], times: Num, unit: Expr = num.ONE): Factor {
  return { base, times, unit, key: isUnit(unit) ? getExprKey(base) : `${getExprKey(base)}^{${getExprKey(unit)}}` }
}

export function isUnit(unit: Expr): boolean {
  return isNum(unit)
}

/** Whether a symbol of this name occurs anywhere in it. */
export function hasSymbol(x: Expr | Atom, name: string): boolean {
  if (isNum(x)) return false
  if (x.kind === 'atom') return x.args === undefined ? x.name === name : x.args.some((arg) => hasSymbol(arg, name))
  if (x.kind === 'sum') return x.terms.some((term) => hasSymbol(term, name))
  return x.product.factors.some(({ base, unit }) => hasSymbol(base, name) || hasSymbol(unit, name))
}

/** The square root of -1. */
export const I = createTerm(num.ONE, [createFactor(num.MINUS_ONE, num.HALF)])
