/** What the operators of an expression do, within bounds. */
import { multiply } from './algebra.ts'
import { bitsOfExpr, reachOf } from './bounds.ts'
import { type Expr, I, isNum } from './expr.ts'
import { readFloat } from './floats.ts'
import { floored, numberOf } from './functions.ts'
import type { Num } from './numbers.ts'
import * as num from './numbers.ts'
import { divide, power } from './powers.ts'
import { MAX_BITS, Refused } from './refused.ts'

export const FACTORING: ReadonlyMap<string, (a: Expr, b: Expr) => Expr> = new Map<string, (a: Expr, b: Expr) => Expr>([
  ['*', multiply],
  ['/', divide],
  ['%', remainder],
  ['//', floorDivide],
])

/** Of whole numbers only, the weakest first. */
export const BITWISE: readonly { sign: string; rule: (a: bigint, b: bigint) => Num }[] = [
  { sign: '|', rule: (a, b) => num.integer(a | b) },
  { sign: '^', rule: (a, b) => num.integer(a ^ b) },
  { sign: '&', rule: (a, b) => num.integer(a & b) },
]

/** base ** exponent; throws Refused where that may grow too large. */
export function raise(base: Expr, exponent: Expr): Expr {
  const bits = bitsOfExpr(base)
  if (bits > 0 && bits * reachOf(exponent) > MAX_BITS) throw new Refused('too big a power')
  refuseTruths([base, exponent])
  return power(base, exponent)
}

/** A number as Python writes it: decimal, hexadecimal, with underscores, with `j` for the imaginary unit. */
export function numberAt(text: string): Expr {
  const isHex = /^0[xX]/.test(text)
  if (!isHex && /[jJ]$/.test(text)) return multiply(numberAt(text.slice(0, -1)), I)
  if (!isHex && /[.eE]/.test(text)) return num.modest(readFloat(text))
  return num.modest(num.integer(BigInt(text.replaceAll('_', ''))))
}

export function wholeOf(x: Expr): bigint {
  const whole = isNum(x) ? num.integerOf(x) : undefined
  if (whole === undefined) throw new Refused('a whole number is wanted')
  return whole
}

export function isTrue(x: Expr): boolean {
  return !isNum(x) || !num.isZero(x)
}

export function truth(holds: boolean): Expr {
  return holds ? num.TRUE : num.FALSE
}

/** Throws Refused where Python's truths stand beside anything but whole numbers, with which they count as 1 and 0. */
export function checkOperands(operands: readonly Expr[]): void {
  if (operands.some((x) => !isNum(x) || num.integerOf(x) === undefined)) refuseTruths(operands)
}

export function refuseTruths(operands: readonly Expr[]): void {
  if (operands.some((x) => x === num.TRUE || x === num.FALSE)) throw new Refused('a truth is no number')
}

function floorDivide(a: Expr, b: Expr): Expr {
  const quotient = numberOf(divide(a, b))
  return quotient.kind === 'limit' ? quotient : num.integer(floored(quotient))
}

function remainder(a: Expr, b: Expr): Expr {
  const [x, y] = [numberOf(a), numberOf(b)]
  if (num.isZero(y)) throw new Refused('a remainder by zero')
  return num.add(x, num.negate(num.multiply(y, num.integer(floored(num.divide(x, y))))))
}
