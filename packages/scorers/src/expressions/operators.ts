/** What the operators of an expression do, within bounds. */
import { SAFE_EVAL_LIMITS } from '../safe-eval-limits.ts'
import { multiplyExprs } from './algebra.ts'
import { estimateExprBits, getExponentReach } from './bounds.ts'
import { type Expr, I, isNum } from './expr.ts'
import { parseBigFloat } from './floats.ts'
import { evaluateToNum, floorNum } from './functions.ts'
import type { Num } from './numbers.ts'
import * as num from './numbers.ts'
import { divideExprs, raiseExpr } from './powers.ts'
import { UnsupportedExpressionError } from './tokens.ts'

export const MULTIPLICATIVE_OPERATORS: ReadonlyMap<string, (a: Expr, b: Expr) => Expr> = new Map<
  string,
  (a: Expr, b: Expr) => Expr
>([
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

export function requireInteger(x: Expr): bigint {
  const whole = isNum(x) ? num.toIntegerOrUndefined(x) : undefined
  if (whole === undefined) throw new UnsupportedExpressionError('expected a whole number')
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
  return quotient.kind === 'limit' ? quotient : num.createInteger(floorNum(quotient))
}

function remainder(a: Expr, b: Expr): Expr {
  const [x, y] = [evaluateToNum(a), evaluateToNum(b)]
  if (num.isZero(y)) throw new UnsupportedExpressionError('a remainder by zero')
  return num.addNums(x, num.negateNum(num.multiplyNums(y, num.createInteger(floorNum(num.divideNums(x, y))))))
}
