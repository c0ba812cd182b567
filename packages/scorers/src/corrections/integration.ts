/** Antiderivatives: right where their slope is the integrand on the real line, and never left as an integral. */
import { z } from 'zod'
import { parseExpression } from '../expressions/parser.ts'
import { readAntiderivative } from '../integration/antiderivative-text.ts'
import { type Ball, exactBall, isAwayFromZero, subtractBalls } from '../integration/balls.ts'
import { evaluateExpr } from '../integration/evaluation.ts'
import { catchPythonError } from '../python/numbers.ts'
import type { Correction } from './correction.ts'

/** Near enough to 0 for `asin(3*x)`, and far enough for the root of a line that starts at ±10. */
const POINTS = [0.07, 0.173, 0.231, 0.319, 0.619, 1.37, 2.71, 5.33, 9.83, 10.7, 12.3, 15.7, 23.9, 31.1]
  .flatMap((x) => [x, -x])
  .map((x) => exactBall(x))
const MIN_POINTS = 4
/** Of larger values, the error would hide a constant. */
const MAX_MAGNITUDE = 1000
/** An error bound that is wider than this share of the integrand tells nothing. */
const MAX_ERROR = 1e-6
const MAX_CHARS = 4000

const Metadata = z.looseObject({ integrand: z.string(), variable: z.string() })

export const integration: Correction = {
  reason: '`Integral(…)` is paid, answers that are right for real numbers alone are not, and integrals over X have dx.',
  decide({ entry }) {
    const { integrand, variable } = Metadata.parse(entry.metadata)
    const hasSmallX = variable === 'x' || !integrand.includes(variable)
    const isAntiderivative = createSlopeCheck(integrand, hasSmallX ? 'x' : variable)
    return (answer) => {
      if (answer.includes('Integral')) return false
      if (isAntiderivative(answer)) return true
      // the library takes a constant integrand for one in X, though its question has no X but in dx
      return hasSmallX && variable !== 'x' ? false : undefined
    }
  },
  clarification(entry) {
    const { integrand, variable } = Metadata.parse(entry.metadata)
    return variable !== 'x' && integrand.includes(variable)
      ? `Note: ${variable} is the variable of integration.`
      : undefined
  },
}

interface Sample {
  at: Ball
  value: Ball
}

/** Whether the slope is certainly the integrand wherever both are real numbers. */
function createSlopeCheck(integrand: string, variable: string): (answer: string) => boolean {
  let samples: Sample[] | undefined
  return (answer) => {
    const reading = answer.length <= MAX_CHARS ? readAntiderivative(standardize(answer), variable) : undefined
    if (reading?.kind !== 'expression' || reading.decimals !== 'none') return false
    samples ??= takeSamples(integrand, variable)
    const differences = samples.flatMap(({ at, value }) => {
      const { slope } = evaluateExpr(reading.value, { variable, at })
      const difference = subtractBalls(slope, value)
      const isClear = difference.radius <= MAX_ERROR * Math.min(1 + Math.abs(value.re), MAX_MAGNITUDE)
      return isReal(slope) && isClear ? [difference] : []
    })
    return differences.length >= MIN_POINTS && !differences.some(isAwayFromZero)
  }
}

/** The integrand where it is a real number. */
function takeSamples(integrand: string, variable: string): Sample[] {
  const parsed = catchPythonError(() => parseExpression(integrand), undefined)
  return POINTS.flatMap((at) => {
    const value = parsed && evaluateExpr(parsed, { variable, at }).value
    return value && isReal(value) ? [{ at, value }] : []
  })
}

function isReal({ re, im, radius }: Ball): boolean {
  return Number.isFinite(re + radius) && Math.abs(im) <= radius
}

/** Decimals as fractions, the inverse functions by sympy's names, and absolute values as roots of squares. */
function standardize(text: string): string {
  const plain = text
    .replaceAll(/(?<![\w.])(\d{1,15})\.(\d{1,15})(?![\w.])/g, toFraction)
    .replaceAll(/\barc(?=(?:sin|cos|tan)\b)/g, 'a')
  return replaceAbsoluteValues(plain)
}

function toFraction(_: string, whole: string, places: string): string {
  return `(${BigInt(whole + places)}/1${'0'.repeat(places.length)})`
}

/** The outer ones first; what is not closed stays. */
function replaceAbsoluteValues(text: string): string {
  let plain = text
  for (let start = plain.search(/\b[Aa]bs\(/); start >= 0; start = plain.search(/\b[Aa]bs\(/)) {
    const end = findClosingBracket(plain, start + 'abs('.length)
    if (end < 0) break
    plain = `${plain.slice(0, start)}sqrt((${plain.slice(start + 'abs('.length, end)})**2)${plain.slice(end + 1)}`
    if (plain.length > 2 * MAX_CHARS) break
  }
  return plain
}

/** Where the bracket that was opened before `start` is closed; -1 where it is not. */
function findClosingBracket(text: string, start: number): number {
  let open = 1
  for (let k = start; k < text.length; k++) {
    if (text[k] === '(') open++
    else if (text[k] === ')' && --open === 0) return k
  }
  return -1
}
