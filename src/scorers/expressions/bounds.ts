/** How large a power may become, before it is worked out. */
import { type Expr, type Factor, isNum } from './expr.ts'
import { absolute } from './floats.ts'
import { numberOf } from './functions.ts'
import { bitsOf, isOne, toDouble } from './numbers.ts'
import { Refused } from './refused.ts'

/** About how many bits the expression's largest number would have, were its powers multiplied out. */
export function bitsOfExpr(x: Expr): number {
  if (isNum(x)) return bitsOf(x)
  if (x.kind === 'sum') return Math.max(bitsOf(x.number), ...x.terms.map(bitsOfExpr))
  return Math.max(isOne(x.coefficient) ? 0 : bitsOf(x.coefficient), ...x.product.factors.map(bitsOfFactor))
}

function bitsOfFactor({ base, times, unit }: Factor): number {
  const bits = base.kind === 'atom' ? 1 : bitsOfExpr(base)
  return isOne(times) && isNum(unit)
    ? bits
    : Math.max(1, bits) * Math.max(sizeOf(times), isNum(unit) ? 0 : reachOf(unit))
}

/** How many times over, at most, the exponent takes the bits of what it stands on. */
export function reachOf(exponent: Expr): number {
  if (isNum(exponent)) return sizeOf(exponent)
  try {
    return sizeOf(numberOf(exponent)) + 1
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    const parts =
      exponent.kind === 'sum' ? [exponent.number, ...exponent.terms.map((t) => t.coefficient)] : [exponent.coefficient]
    return Math.max(1, ...parts.map(sizeOf))
  }
}

function sizeOf(x: Parameters<typeof bitsOf>[0]): number {
  if (x.kind === 'limit') return 1
  return x.kind === 'rational' ? Number((absolute(x.p) + x.q - 1n) / x.q) : Math.ceil(Math.abs(toDouble(x)))
}
