/** The value and slope of an expression at a complex point, each with a bound of its error. */
import { type Atom, type Expr, type Factor, isNum, isUnit } from '../expressions/expr.ts'
import * as num from '../expressions/numbers.ts'
import {
  addDuals,
  type Ball,
  constantDual,
  DUAL_FUNCTIONS,
  type Dual,
  exactBall,
  expDual,
  multiplyDuals,
  raiseDual,
  raiseDualToInteger,
  roundedBall,
  variableDual,
} from './balls.ts'

/** Powers up to this one are products. */
const MAX_PRODUCT = 64
/** How far sympy may move a decimal: `cancel` takes a fraction near it, to some 13 places. This is wider by far. */
const FLOAT_TOLERANCE = 1e-7

/** The variable of the integral and where it is. */
export interface Point {
  variable: string
  at: Ball
}

export function evaluateExpr(x: Expr, point: Point): Dual {
  if (isNum(x)) return constantDual(evaluateNum(x))
  if (x.kind === 'sum')
    return x.terms.map((term) => evaluateExpr(term, point)).reduce(addDuals, constantDual(evaluateNum(x.number)))
  return x.product.factors
    .map((factor) => evaluateFactor(factor, point))
    .reduce(multiplyDuals, constantDual(evaluateNum(x.coefficient)))
}

function evaluateNum(x: num.Num): Ball {
  const value = num.numToDouble(x)
  if (x.kind === 'float') return roundedBall(value, FLOAT_TOLERANCE * (1 + Math.abs(value)))
  return Number.isSafeInteger(value) && num.toIntegerOrUndefined(x) !== undefined
    ? exactBall(value)
    : roundedBall(value)
}

function evaluateFactor({ base, times, unit }: Factor, point: Point): Dual {
  const exponent = multiplyDuals(constantDual(evaluateNum(times)), evaluateExpr(unit, point))
  if (base.kind === 'atom' && base.name === 'E' && base.args === undefined) return expDual(exponent)
  const value = base.kind === 'atom' ? evaluateAtom(base, point) : evaluateExpr(base, point)
  const whole = isUnit(unit) ? Number(num.toIntegerOrUndefined(times) ?? Number.NaN) : Number.NaN
  return Math.abs(whole) <= MAX_PRODUCT ? raiseDualToInteger(value, whole) : raiseDual(value, exponent)
}

function evaluateAtom({ name, args }: Atom, point: Point): Dual {
  if (args === undefined) {
    if (name === point.variable) return variableDual(point.at)
    return constantDual(name === 'pi' ? roundedBall(Math.PI) : chooseValue(name))
  }
  const [argument, second] = args.map((arg) => evaluateExpr(arg, point))
  if (argument === undefined || second !== undefined) return constantDual(exactBall(Number.NaN))
  const rule = DUAL_FUNCTIONS.get(name)
  // What holds for every function holds for this one.
  return rule?.(argument) ?? expDual(multiplyDuals(constantDual(chooseValue(name)), argument))
}

/** What holds for every value of a name holds for this one. */
function chooseValue(name: string): Ball {
  let hash = 7
  for (const character of name) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 997
  return exactBall(0.4 + hash / 1009, 0.3 + hash / 2017)
}
