/** The functions and constants that mean something in an expression; any other name is a free variable. */
import { SAFE_EVAL_LIMITS } from '../safe-eval-limits.ts'
import { negateExpr } from './algebra.ts'
import { approximateExpr, REAL_FUNCTIONS } from './approximate.ts'
import { createCall, createSymbol, type Expr, I, isNum } from './expr.ts'
import { toExactRatio } from './floats.ts'
import type { Num } from './numbers.ts'
import * as num from './numbers.ts'
import { divideExprs, raiseExpr } from './powers.ts'
import { UnsupportedExpressionError } from './tokens.ts'

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

type FunctionRule = (args: readonly Expr[]) => Expr

const FUNCTIONS = new Map<string, FunctionRule>([
  ['sqrt', unary((x) => raiseExpr(x, num.HALF))],
  ['cbrt', unary((x) => raiseExpr(x, num.createRatio(1n, 3n)))],
  ['root', binary((x, n) => raiseExpr(x, divideExprs(num.ONE, n)))],
  ['pow', binary(raiseExpr)],
  ['Pow', binary(raiseExpr)],
  ['exp', unary((x) => raiseExpr(createSymbol('E'), x))],
  ['S', unary((x) => x)],
  [
    'Rational',
    (args) =>
      args.length === 1
        ? unary(requireFinite)(args)
        : binary((x, y) => divideExprs(requireFinite(x), requireFinite(y)))(args),
  ],
  ['Integer', unary((x) => num.createInteger(truncateNum(evaluateToNum(x))))],
  ['floor', unary((x) => (isConstant(x) ? num.createInteger(floorNum(evaluateToNum(x))) : createCall('floor', [x])))],
  [
    'ceiling',
    unary((x) =>
      isConstant(x) ? num.createInteger(-floorNum(evaluateToNum(negateExpr(x)))) : createCall('ceiling', [x]),
    ),
  ],
  ['sign', unary((x) => (isConstant(x) ? num.createInteger(requireSign(evaluateToNum(x))) : createCall('sign', [x])))],
  ['Abs', unary(absExpr)],
  ['abs', unary(absExpr)],
  ['factorial', unary((x) => factorialExpr(x, 1n))],
  ['factorial2', unary((x) => factorialExpr(x, 2n))],
  ['ln', (args) => logExpr(args)],
  ['log', (args) => logExpr(args)],
  ...[...REAL_FUNCTIONS.keys()]
    .filter((name) => name !== 'log')
    .map((name): [string, FunctionRule] => [name, unary((x) => createCall(name, [x]))]),
])

/** Throws UnsupportedExpressionError for a name that is a function, or that Python reserves. */
export function resolveName(name: string): Expr {
  if (FUNCTIONS.has(name) || NOT_VALUES.has(name)) throw new UnsupportedExpressionError(`${name} is no value`)
  return CONSTANTS.get(name) ?? createSymbol(name)
}

export function applyFunction(name: string, args: readonly Expr[]): Expr {
  if (CONSTANTS.has(name) || NOT_VALUES.has(name)) throw new UnsupportedExpressionError(`${name} is no function`)
  return (FUNCTIONS.get(name) ?? ((given) => createCall(name, given)))(args)
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

/** The value of an expression without variables: exact where it is a number, else in double precision. */
export function evaluateToNum(x: Expr): Num {
  if (isNum(x)) return x
  const { re, im } = approximateExpr(x)
  if (!Number.isFinite(re) || Math.abs(im) > 1e-12 * Math.abs(re))
    throw new UnsupportedExpressionError('no real number')
  // What comes so near to a whole number is one: sqrt(2)*sqrt(3)*sqrt(6).
  const nearest = Math.round(re)
  const isWhole = Math.abs(re - nearest) <= 1e-12 * Math.max(1, Math.abs(re)) && Number.isSafeInteger(nearest)
  return isWhole ? num.createInteger(BigInt(nearest)) : num.doubleToNum(re)
}

function toRatio(x: Num): { p: bigint; q: bigint } {
  if (x.kind === 'limit') throw new UnsupportedExpressionError('no finite number')
  return x.kind === 'rational' ? x : toExactRatio(x)
}

function unary(rule: (x: Expr) => Expr): FunctionRule {
  return ([x, second]) => {
    if (x === undefined || second !== undefined) throw new UnsupportedExpressionError('expected one argument')
    return rule(x)
  }
}

function binary(rule: (x: Expr, y: Expr) => Expr): FunctionRule {
  return ([x, y, third]) => {
    if (x === undefined || y === undefined || third !== undefined)
      throw new UnsupportedExpressionError('two arguments are wanted')
    return rule(x, y)
  }
}

function requireFinite(x: Expr): Num {
  if (!isNum(x) || x.kind === 'limit') throw new UnsupportedExpressionError('expected a number')
  return x
}

function isConstant(x: Expr): boolean {
  try {
    return num.getNumKey(evaluateToNum(x)) !== 'nan'
  } catch (error) {
    if (error instanceof UnsupportedExpressionError) return false
    throw error
  }
}

function requireSign(x: Num): bigint {
  const sign = num.getNumSign(x)
  if (Number.isNaN(sign)) throw new UnsupportedExpressionError('no sign')
  return BigInt(sign)
}

function absExpr(x: Expr): Expr {
  if (!isConstant(x)) return createCall('Abs', [x])
  return num.getNumSign(evaluateToNum(x)) < 0 ? negateExpr(x) : x
}

function logExpr([x, base, third]: readonly Expr[]): Expr {
  if (x === undefined || third !== undefined) throw new UnsupportedExpressionError('one argument or two are wanted')
  if (base !== undefined) return divideExprs(logExpr([x]), logExpr([base]))
  return isNum(x) && num.isOne(x) ? num.ZERO : createCall('log', [x])
}

/** n·(n − step)·(n − 2·step)…; of anything but a whole number it stays as it is. */
function factorialExpr(x: Expr, step: bigint): Expr {
  const n = isNum(x) ? num.toIntegerOrUndefined(x) : undefined
  if (n === undefined) return createCall(step === 1n ? 'factorial' : 'factorial2', [x])
  if (n > SAFE_EVAL_LIMITS.factorial_argument || n < -SAFE_EVAL_LIMITS.factorial_argument)
    throw new UnsupportedExpressionError('too big a factorial')
  if (n < 0n) return step === 1n ? num.ZOO : createCall('factorial2', [x])
  let product = 1n
  for (let factor = n; factor > 1n; factor -= step) product *= factor
  return num.createInteger(product)
}
