/**
 * The rule of the two integration tasks where its outcome is certain without sympy; elsewhere the library scores. An answer is
 * wrong if its derivative differs from the integrand by more than any rounding wherever both can be computed. It is right if
 * the difference cancels term by term, once multiplied out: sympy's `simplify` multiplies out too.
 */
import { z } from 'zod'
import { addExprs, negateExpr } from '../expressions/algebra.ts'
import { type Expr, isNum } from '../expressions/expr.ts'
import { absBigInt } from '../expressions/floats.ts'
import { isZero } from '../expressions/numbers.ts'
import { parseExpression } from '../expressions/parser.ts'
import { bitLength, catchPythonError } from '../python/numbers.ts'
import { definePartialScorer } from '../scorer.ts'
import { type ExpressionReading, readAntiderivative } from './antiderivative-text.ts'
import { type Ball, exactBall, isAwayFromZero, subtractBalls } from './balls.ts'
import { differentiateExpr, isZeroMultipliedOut } from './derivative.ts'
import { isDoubleAngleIdentity } from './double-angle.ts'
import { evaluateExpr } from './evaluation.ts'

/** In each quadrant, since a formula may hold on one branch only; near enough to 0 for `asin(3*x)`, and far from it. */
const POINTS = [
  exactBall(0.173, 0.092),
  exactBall(-0.231, 0.118),
  exactBall(1.37, -0.241),
  exactBall(-1.613, -0.187),
  exactBall(0.619, 0.353),
]
/** Fewer could be equal by chance, or of one branch. */
const MIN_POINTS = 4
const SHORT_FLOAT_BITS = 24
/** The proof that a longer answer is right could take more than 10 ms. */
const MAX_PROVABLE_CHARS = 1000

const Metadata = z.looseObject({ integrand: z.string(), variable: z.string().regex(/^[A-Za-z]$/) })

/** Rule of `reasoning_gym/algebra/simple_integration.py` and `intermediate_integration.py`. */
export const integration = definePartialScorer({
  metadata: Metadata,
  prepare({ integrand, variable }) {
    const parsed = catchPythonError(() => parseExpression(integrand), undefined)
    const values = POINTS.map((at) => parsed && evaluateExpr(parsed, { variable, at }).value)
    return (answer) => {
      const reading = readAntiderivative(answer, variable)
      switch (reading.kind) {
        case 'invalid':
          return 0
        case 'invalid_unless_integer':
          return isNotReal(reading.value, variable) ? 0 : undefined
        case 'expression':
          if (parsed === undefined) return undefined
          return scoreSlope(reading, parsed, values, variable)
        case 'unknown':
          return undefined
      }
    }
  },
})

/** Whether it is certainly no real number, and so no whole one, where the variable is complex. */
function isNotReal(value: Expr, variable: string): boolean {
  return POINTS.some((at) => {
    const { im, radius } = evaluateExpr(value, { variable, at }).value
    return Math.abs(im) > radius
  })
}

function scoreSlope(
  reading: ExpressionReading,
  integrand: Expr,
  values: readonly (Ball | undefined)[],
  variable: string,
): number | undefined {
  const differences = POINTS.map((at, k) => {
    const { slope } = evaluateExpr(reading.value, { variable, at })
    return subtractBalls(slope, values[k] ?? exactBall(Number.NaN))
  }).filter(({ re, im, radius }) => Number.isFinite(re + im + radius))
  if (differences.length < MIN_POINTS) return undefined
  if (differences.every(isAwayFromZero)) return 0
  const canBeEqual = reading.chars <= MAX_PROVABLE_CHARS && !differences.some(isAwayFromZero)
  return canBeEqual && isCertainlyEqual(reading, integrand, variable) ? 1 : undefined
}

function isCertainlyEqual(reading: ExpressionReading, integrand: Expr, variable: string): boolean {
  const { value, decimals, hasConstantCall } = reading
  if (decimals === 'rounded' || hasConstantCall) return false
  return catchPythonError(() => {
    const slope = differentiateExpr(value, variable)
    if (slope === undefined) return false
    const difference = addExprs([slope, negateExpr(integrand)])
    if (decimals !== 'none')
      return isNum(difference) && isZero(difference) && (decimals === 'polynomial' || hasOnlyShortFloats(slope))
    return isZeroMultipliedOut([slope, negateExpr(integrand)]) || isDoubleAngleIdentity(difference, variable)
  }, false)
}

/** Sums and products of short binary fractions are exact, whatever the order in which sympy works them out. */
function hasOnlyShortFloats(x: Expr): boolean {
  if (isNum(x)) return x.kind !== 'float' || bitLength(absBigInt(x.mantissa)) <= SHORT_FLOAT_BITS
  if (x.kind === 'sum') return [x.number, ...x.terms].every(hasOnlyShortFloats)
  return [x.coefficient, ...x.product.factors.map(({ times }) => times)].every(hasOnlyShortFloats)
}
