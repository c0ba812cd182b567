/** What the operators of an expression do, within bounds: how large a power may become is estimated before it is worked out. */
import { catchPythonError } from '../python/numbers.ts'
import { SAFE_EVAL_LIMITS } from '../safe-eval-limits.ts'
import { divideExprs, multiplyExprs, raiseExpr } from './algebra.ts'
import { type Expr, type Factor, I, isNum } from './expr.ts'
import { absBigInt, parseBigFloat } from './floats.ts'
import { evaluateToNum } from './functions.ts'
import * as num from './numbers.ts'
import { countNumBits, isOne, type Num, numToDouble } from './numbers.ts'
import { UnsupportedExpressionError } from './tokens.ts'

export const MULTIPLICATIVE_OPERATORS = new Map([
  ['*', multiplyExprs],
  ['/', divideExprs],
  ['%', remainder],
  ['//', floorDivide],
])

/** Of whole numbers only, the weakest first. */
export const BITWISE_OPERATORS: readonly { sign: string; rule: (a: bigint, b: bigint) => Num }[] = [
  { sign: '|', rule: (a, b) => num.createInteger(a | b) },
  { sign: '^', rule: (a, b) => num.createInteger(a ^ b) },
  { sign: '&', rule: (a, b) => num.createInteger(a & b) },
]

/** base ** exponent; throws UnsupportedExpressionError where that may grow too large. */
export function raiseBounded(base: Expr, exponent: Expr): Expr {
  const bits = estimateExprBits(base)
  if (bits > 0 && bits * getExponentReach(exponent) > SAFE_EVAL_LIMITS.bits)
    throw new UnsupportedExpressionError('too big a power')
  rejectTruthValues([base, exponent])
  return raiseExpr(base, exponent)
}

/** A number as Python writes it: decimal, hexadecimal, with underscores, with `j` for the imaginary unit. */
export function parseNumberToken(text: string): Expr {
  const isHex = /^0[xX]/.test(text)
  if (!isHex && /[jJ]$/.test(text)) return multiplyExprs(parseNumberToken(text.slice(0, -1)), I)
  if (!isHex && /[.eE]/.test(text)) return num.requireBoundedBits(parseBigFloat(text))
  return num.requireBoundedBits(num.createInteger(BigInt(text.replaceAll('_', ''))))
}

/** `^` of what is no whole number. */
export class NotIntegerError extends UnsupportedExpressionError {
  readonly operand: Expr

  constructor(operand: Expr) {
    super('expected a whole number')
    this.operand = operand
  }
}

export function requireInteger(x: Expr): bigint {
  const whole = isNum(x) ? num.toIntegerOrUndefined(x) : undefined
  if (whole === undefined) throw new NotIntegerError(x)
  return whole
}

export function isTruthy(x: Expr): boolean {
  return !isNum(x) || !num.isZero(x)
}

export function toTruthValue(holds: boolean): Expr {
  return holds ? num.TRUE : num.FALSE
}

/** Throws UnsupportedExpressionError if Python's True or False is combined with anything but whole numbers, where they count as 1 and 0. */
export function checkOperands(operands: readonly Expr[]): void {
  if (operands.some((x) => !isNum(x) || num.toIntegerOrUndefined(x) === undefined)) rejectTruthValues(operands)
}

export function rejectTruthValues(operands: readonly Expr[]): void {
  if (operands.some((x) => x === num.TRUE || x === num.FALSE))
    throw new UnsupportedExpressionError('a truth is no number')
}

function floorDivide(a: Expr, b: Expr): Expr {
  const quotient = evaluateToNum(divideExprs(a, b))
  return quotient.kind === 'limit' ? quotient : num.createInteger(num.floorNum(quotient))
}

function remainder(a: Expr, b: Expr): Expr {
  const [x, y] = [evaluateToNum(a), evaluateToNum(b)]
  if (num.isZero(y)) throw new UnsupportedExpressionError('a remainder by zero')
  return num.addNums(x, num.negateNum(num.multiplyNums(y, num.createInteger(num.floorNum(num.divideNums(x, y))))))
}

/** About how many bits the expression's largest number would have, were its powers multiplied out. */
function estimateExprBits(x: Expr): number {
  if (isNum(x)) return countNumBits(x)
  if (x.kind === 'sum') return Math.max(countNumBits(x.number), ...x.terms.map(estimateExprBits))
  return Math.max(isOne(x.coefficient) ? 0 : countNumBits(x.coefficient), ...x.product.factors.map(estimateFactorBits))
}

function estimateFactorBits({ base, times, unit }: Factor): number {
  const bits = base.kind === 'atom' ? 1 : estimateExprBits(base)
  return isOne(times) && isNum(unit)
    ? bits
    : Math.max(1, bits) * Math.max(getMagnitude(times), isNum(unit) ? 0 : getExponentReach(unit))
}

/** How many times over, at most, the exponent takes the bits of what it stands on. */
function getExponentReach(exponent: Expr): number {
  if (isNum(exponent)) return getMagnitude(exponent)
  const value = catchPythonError(() => evaluateToNum(exponent), undefined)
  if (value !== undefined) return getMagnitude(value) + 1
  const parts =
    exponent.kind === 'sum' ? [exponent.number, ...exponent.terms.map((t) => t.coefficient)] : [exponent.coefficient]
  return Math.max(1, ...parts.map(getMagnitude))
}

function getMagnitude(x: Parameters<typeof countNumBits>[0]): number {
  if (x.kind === 'limit') return 1
  return x.kind === 'rational' ? Number((absBigInt(x.p) + x.q - 1n) / x.q) : Math.ceil(Math.abs(numToDouble(x)))
}
