/** The functions and constants that mean something in an expression, and the value of an expression without variables. Any other name is a free variable. */
import { catchPythonError } from '../python/numbers.ts'
import { SAFE_EVAL_LIMITS } from '../safe-eval-limits.ts'
import { divideExprs, negateExpr, raiseExpr } from './algebra.ts'
import { type Atom, createCall, createSymbol, type Expr, type Factor, I, isNum } from './expr.ts'
import * as num from './numbers.ts'
import { type Num, numToDouble } from './numbers.ts'
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

/** Functions of one real number; where they leave the reals they give NaN. */
const REAL_FUNCTIONS: ReadonlyMap<string, (x: number) => number> = new Map([
  ['log', Math.log],
  ['sin', Math.sin],
  ['cos', Math.cos],
  ['tan', Math.tan],
  ['asin', Math.asin],
  ['acos', Math.acos],
  ['atan', Math.atan],
  ['sinh', Math.sinh],
  ['cosh', Math.cosh],
  ['tanh', Math.tanh],
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
  ['Integer', unary((x) => num.createInteger(num.truncateNum(evaluateToNum(x))))],
  [
    'floor',
    unary((x) => (isConstant(x) ? num.createInteger(num.floorNum(evaluateToNum(x))) : createCall('floor', [x]))),
  ],
  [
    'ceiling',
    unary((x) =>
      isConstant(x) ? num.createInteger(-num.floorNum(evaluateToNum(negateExpr(x)))) : createCall('ceiling', [x]),
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
  return catchPythonError(() => num.getNumKey(evaluateToNum(x)) !== 'nan', false)
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

interface ComplexNumber {
  re: number
  im: number
}

const CONSTANT_VALUES: Readonly<Record<string, number>> = {
  pi: Math.PI,
  E: Math.E,
  EulerGamma: 0.577_215_664_901_532_9,
  GoldenRatio: 1.618_033_988_749_895,
  Catalan: 0.915_965_594_177_219,
}

/** The value in double precision, complex on the way. Throws UnsupportedExpressionError if it contains a variable or an unknown function. */
function approximateExpr(x: Expr): ComplexNumber {
  if (isNum(x)) return { re: numToDouble(x), im: 0 }
  if (x.kind === 'term')
    return x.product.factors.map(approximateFactor).reduce(multiplyComplex, { re: numToDouble(x.coefficient), im: 0 })
  return x.terms.map(approximateExpr).reduce(addComplex, { re: numToDouble(x.number), im: 0 })
}

function approximateFactor({ base, times, unit }: Factor): ComplexNumber {
  const value = base.kind === 'atom' ? approximateAtom(base) : approximateExpr(base)
  const exponent = multiplyComplex({ re: numToDouble(times), im: 0 }, approximateExpr(unit))
  if (value.im === 0 && exponent.im === 0 && (value.re >= 0 || Number.isInteger(exponent.re))) {
    return { re: value.re ** exponent.re, im: 0 }
  }
  const size = Math.log(Math.hypot(value.re, value.im))
  const angle = Math.atan2(value.im, value.re)
  const grown = Math.exp(exponent.re * size - exponent.im * angle)
  const turned = exponent.im * size + exponent.re * angle
  return { re: grown * Math.cos(turned), im: grown * Math.sin(turned) }
}

function approximateAtom({ name, args }: Atom): ComplexNumber {
  if (args === undefined) return requireReal(CONSTANT_VALUES[name])
  const [argument] = args
  const rule = REAL_FUNCTIONS.get(name)
  if (argument === undefined || rule === undefined || args.length > 1)
    throw new UnsupportedExpressionError('not a number')
  const { re, im } = approximateExpr(argument)
  return requireReal(im === 0 ? rule(re) : undefined)
}

function requireReal(value: number | undefined): ComplexNumber {
  if (value === undefined || !Number.isFinite(value)) throw new UnsupportedExpressionError('not a real number')
  return { re: value, im: 0 }
}

function multiplyComplex(a: ComplexNumber, b: ComplexNumber): ComplexNumber {
  if (a.im === 0 && b.im === 0) return { re: a.re * b.re, im: 0 }
  return { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re }
}

function addComplex(a: ComplexNumber, b: ComplexNumber): ComplexNumber {
  return { re: a.re + b.re, im: a.im + b.im }
}
