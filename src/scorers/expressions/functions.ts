/** The functions and constants that mean something in an expression; any other name stands for itself. */
import { negate } from './algebra.ts'
import { approximate, REAL_FUNCTIONS } from './approximate.ts'
import { call, type Expr, I, isNum, symbol } from './expr.ts'
import { exactly } from './floats.ts'
import type { Num } from './numbers.ts'
import * as num from './numbers.ts'
import { divide, power } from './powers.ts'
import { Refused } from './refused.ts'

const MAX_FACTORIAL_OF = 170
/** Names that `parse_expr` takes for something that is no value. */
const NOT_VALUES = new Set(['N', 'O', 'Q', 'beta', 'gamma', 'zeta', 'sum', 'print'])

const CONSTANTS = new Map<string, Expr>([
  ['I', I],
  ['oo', { kind: 'limit', name: 'oo' }],
  ['zoo', num.ZOO],
  ['nan', num.NAN],
  ['True', num.TRUE],
  ['False', num.FALSE],
])

type Rule = (args: readonly Expr[]) => Expr

const FUNCTIONS = new Map<string, Rule>([
  ['sqrt', unary((x) => power(x, num.HALF))],
  ['cbrt', unary((x) => power(x, num.ratio(1n, 3n)))],
  ['root', binary((x, n) => power(x, divide(num.ONE, n)))],
  ['pow', binary(power)],
  ['Pow', binary(power)],
  ['exp', unary((x) => power(symbol('E'), x))],
  ['S', unary((x) => x)],
  [
    'Rational',
    (args) => (args.length === 1 ? unary(finite)(args) : binary((x, y) => divide(finite(x), finite(y)))(args)),
  ],
  ['Integer', unary((x) => num.integer(truncated(numberOf(x))))],
  ['floor', unary((x) => (isConstant(x) ? num.integer(floored(numberOf(x))) : call('floor', [x])))],
  ['ceiling', unary((x) => (isConstant(x) ? num.integer(-floored(numberOf(negate(x)))) : call('ceiling', [x])))],
  ['sign', unary((x) => (isConstant(x) ? num.integer(signOf(numberOf(x))) : call('sign', [x])))],
  ['Abs', unary(absolute)],
  ['abs', unary(absolute)],
  ['factorial', unary((x) => factorial(x, 1n))],
  ['factorial2', unary((x) => factorial(x, 2n))],
  ['ln', (args) => logarithm(args)],
  ['log', (args) => logarithm(args)],
  ...[...REAL_FUNCTIONS.keys()]
    .filter((name) => name !== 'log')
    .map((name): [string, Rule] => [name, unary((x) => call(name, [x]))]),
])

/** Throws Refused for a name that is a function, or that Python keeps for itself. */
export function nameValue(name: string): Expr {
  if (FUNCTIONS.has(name) || NOT_VALUES.has(name)) throw new Refused(`${name} is no value`)
  return CONSTANTS.get(name) ?? symbol(name)
}

export function apply(name: string, args: readonly Expr[]): Expr {
  if (CONSTANTS.has(name) || NOT_VALUES.has(name)) throw new Refused(`${name} is no function`)
  return (FUNCTIONS.get(name) ?? ((given) => call(name, given)))(args)
}

/** The whole part; throws Refused for what has none. */
export function truncated(x: Num): bigint {
  const { p, q } = fractionOf(x)
  return p / q
}

export function floored(x: Num): bigint {
  const { p, q } = fractionOf(x)
  return p / q - (p < 0n && p % q !== 0n ? 1n : 0n)
}

/** The value of an expression without variables: exact where it is a number, else in double precision. */
export function numberOf(x: Expr): Num {
  if (isNum(x)) return x
  const { re, im } = approximate(x)
  if (!Number.isFinite(re) || Math.abs(im) > 1e-12 * Math.abs(re)) throw new Refused('no real number')
  // What comes so near to a whole number is one: sqrt(2)*sqrt(3)*sqrt(6).
  const nearest = Math.round(re)
  const isWhole = Math.abs(re - nearest) <= 1e-12 * Math.max(1, Math.abs(re)) && Number.isSafeInteger(nearest)
  return isWhole ? num.integer(BigInt(nearest)) : num.fromDouble(re)
}

function fractionOf(x: Num): { p: bigint; q: bigint } {
  if (x.kind === 'limit') throw new Refused('no finite number')
  return x.kind === 'rational' ? x : exactly(x)
}

function unary(rule: (x: Expr) => Expr): Rule {
  return ([x, second]) => {
    if (x === undefined || second !== undefined) throw new Refused('one argument is wanted')
    return rule(x)
  }
}

function binary(rule: (x: Expr, y: Expr) => Expr): Rule {
  return ([x, y, third]) => {
    if (x === undefined || y === undefined || third !== undefined) throw new Refused('two arguments are wanted')
    return rule(x, y)
  }
}

function finite(x: Expr): Num {
  if (!isNum(x) || x.kind === 'limit') throw new Refused('a number is wanted')
  return x
}

function isConstant(x: Expr): boolean {
  try {
    return num.keyOf(numberOf(x)) !== 'nan'
  } catch (error) {
    if (error instanceof Refused) return false
    throw error
  }
}

function signOf(x: Num): bigint {
  const sign = num.signOf(x)
  if (Number.isNaN(sign)) throw new Refused('no sign')
  return BigInt(sign)
}

function absolute(x: Expr): Expr {
  if (!isConstant(x)) return call('Abs', [x])
  return num.signOf(numberOf(x)) < 0 ? negate(x) : x
}

function logarithm([x, base, third]: readonly Expr[]): Expr {
  if (x === undefined || third !== undefined) throw new Refused('one argument or two are wanted')
  if (base !== undefined) return divide(logarithm([x]), logarithm([base]))
  return isNum(x) && num.isOne(x) ? num.ZERO : call('log', [x])
}

/** n·(n − step)·(n − 2·step)…; of anything but a whole number it stays as it is. */
function factorial(x: Expr, step: bigint): Expr {
  const n = isNum(x) ? num.integerOf(x) : undefined
  if (n === undefined) return call(step === 1n ? 'factorial' : 'factorial2', [x])
  if (n > MAX_FACTORIAL_OF || n < -MAX_FACTORIAL_OF) throw new Refused('too big a factorial')
  if (n < 0n) return step === 1n ? num.ZOO : call('factorial2', [x])
  let product = 1n
  for (let factor = n; factor > 1n; factor -= step) product *= factor
  return num.integer(product)
}
