/** How large a power may become, before it is worked out. */
import { type Expr, type Factor, isNum } from './expr.ts'
import { absBigInt } from './floats.ts'
import { evaluateToNum } from './functions.ts'
import { countNumBits, isOne, numToDouble } from './numbers.ts'
import { UnsupportedExpressionError } from './tokens.ts'

/** About how many bits the expression's largest number would have, were its powers multiplied out. */
export function estimateExprBits(x: Expr): number {
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
export function getExponentReach(exponent: Expr): number {
  if (isNum(exponent)) return getMagnitude(exponent)
  try {
    return getMagnitude(evaluateToNum(exponent)) + 1
  } catch (error) {
    if (!(error instanceof UnsupportedExpressionError)) throw error
    const parts =
      exponent.kind === 'sum' ? [exponent.number, ...exponent.terms.map((t) => t.coefficient)] : [exponent.coefficient]
    return Math.max(1, ...parts.map(getMagnitude))
  }
}

function getMagnitude(x: Parameters<typeof countNumBits>[0]): number {
  if (x.kind === 'limit') return 1
  return x.kind === 'rational' ? Number((absBigInt(x.p) + x.q - 1n) / x.q) : Math.ceil(Math.abs(numToDouble(x)))
}
