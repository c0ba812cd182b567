/** Numbers, sums and equations: exact quotients, both ways to round a root, and what is given already or not at all. */
import { z } from 'zod'
import { getCommonDivisor } from '../expressions/numbers.ts'
import { evaluateExactly } from '../hardened/expressions.ts'
import { TypedInteger } from '../numbers.ts'
import type { Fraction } from '../python/numbers.ts'
import { type DatasetEntry, requireOracleAnswer } from '../scorer.ts'
import type { Correction } from './correction.ts'
import { equals, isRounded, readDecimal } from './rounding.ts'

const ConversionMetadata = z.looseObject({ source_repr: z.string() })

export const baseConversion: Correction = {
  reason: 'Zero has no digits in most bases: the question lacks its number, or the key is empty.',
  keys: ({ entry }) => (requireOracleAnswer(entry) === '' ? ['0'] : undefined),
  hasRightAnswer: ({ metadata }) => ConversionMetadata.parse(metadata).source_repr !== '',
}

const FRACTION_PATTERN = /^([+-]?\d{1,40}) ?\/ ?(\d{1,40})$/
/** An answer that is no whole number has at least as many decimals. */
const MIN_DECIMALS = 2

export const basicArithmetic: Correction = {
  reason: 'A quotient that is no whole number is rounded down in the key, which the question does not ask for.',
  decide({ entry }) {
    const exact = evaluateProblem(entry.question)
    const key = BigInt(requireOracleAnswer(entry))
    return (answer) =>
      exact === undefined || exact.numerator === key * exact.denominator ? undefined : isSameNumber(answer, exact)
  },
}

function evaluateProblem(question: string): Fraction | undefined {
  const [expression = ''] = /-?[\d(][-+*/() \d]*/.exec(question) ?? []
  const tokens = expression.match(/\d+|[-+*/()]/g) ?? []
  // a minus before a number or a bracket is a sign, unless a number or a bracket ends before it
  return evaluateExactly(tokens.map((token, k) => (token === '-' && !/[\d)]$/.test(tokens[k - 1] ?? '') ? '~' : token)))
}

/** A fraction of the same value, or a decimal that is rounded to its last place. */
function isSameNumber(text: string, exact: Fraction): boolean {
  const [, top, bottom] = FRACTION_PATTERN.exec(text) ?? []
  if (top !== undefined && bottom !== undefined)
    return BigInt(bottom) > 0n && BigInt(top) * exact.denominator === exact.numerator * BigInt(bottom)
  const given = readDecimal(text)
  if (given === undefined) return false
  return equals(given.value, exact) || (given.lastPlace <= -MIN_DECIMALS && isRounded(given, exact))
}

const HEXADECIMAL_PATTERN = /^([+-]?)(?:0x)?([0-9a-f]+)$/i

export const bitwiseArithmetic: Correction = {
  reason: 'The question asks for a hexadecimal number, and decimal and binary ones are paid.',
  decide({ entry }) {
    const key = readHexadecimal(requireOracleAnswer(entry))
    return (answer) => (answer.length <= MAX_HEXADECIMAL_LENGTH ? readHexadecimal(answer) === key : false)
  },
}

/** Longer than any key. */
const MAX_HEXADECIMAL_LENGTH = 20_000

/** With or without its prefix; undefined for what is no hexadecimal number. */
function readHexadecimal(text: string): string | undefined {
  const [, sign, digits] = HEXADECIMAL_PATTERN.exec(text) ?? []
  const bare = digits?.toLowerCase().replace(/^0+(?=.)/, '')
  return sign === '-' && bare !== '0' ? `-${bare}` : bare
}

export const legCounting: Correction = {
  reason: 'The arms of starfish and the claws of crabs and lobsters are counted as legs.',
  clarification({ question }) {
    const hasStarfish = /\bstarfish/.test(question)
    const clawed = ['crab', 'lobster'].filter((animal) => new RegExp(`\\b${animal}`).test(question))
    const limbs = [
      ...(hasStarfish ? ['the five arms of a starfish'] : []),
      ...clawed.map((animal) => `the claws of a ${animal}`),
    ]
    return limbs.length > 0 ? `Note: ${limbs.join(' and ')} count as legs.` : undefined
  },
}

const PolynomialMetadata = z.looseObject({ polynomial_expr: z.string() })

export const polynomialMultiplication: Correction = {
  reason: 'Some questions hold the product multiplied out already, so that the answer repeats the question.',
  hasRightAnswer: ({ answer, metadata }) => PolynomialMetadata.parse(metadata).polynomial_expr !== answer,
}

const UNKNOWN_PATTERN = /: [^=]*[a-z]/

export const simpleEquations: Correction = {
  reason: 'A zero that is multiplied by the unknown leaves the equation 0 = 0, which any number satisfies.',
  hasRightAnswer: ({ question }) => UNKNOWN_PATTERN.test(question),
}

/** Ten-thousandths: the last place that the question asks for. */
const SCALE = 10_000

export const polynomialEquations: Correction = {
  reason:
    'The question asks to round down where the fifth decimal is 5 or greater, and the key is rounded to the nearest.',
  keys({ entry }) {
    const oracle = requireOracleAnswer(entry)
    if (oracle === '') return undefined
    const coefficients = readCoefficients(PolynomialMetadata.parse(entry.metadata).polynomial_expr)
    const nearest = oracle.split(', ').map((root) => Math.round(Number(root) * SCALE))
    const cut = nearest.map((root) => (isPast(coefficients, root) ? root - Math.sign(root) : root))
    const lower = nearest.map((root, k) => Math.min(root, cut[k] ?? root))
    const variants = [cut, lower].map((roots) => roots.map((root) => root / SCALE).join(', '))
    return [...new Set([oracle, ...variants])]
  },
}

const TERM_PATTERN = /([+-]?) ?(?:(\d+)\*?)?(?:[a-z](?:\*\*(\d+))?)?/g

/** Of a sum as sympy writes it, each power's place: 3*x**2 - x is [0, -1, 3]. */
function readCoefficients(text: string): bigint[] {
  const coefficients: bigint[] = []
  for (const [term, sign, factor = '1', power] of text.matchAll(TERM_PATTERN)) {
    if (term.trim() === '') continue
    const degree = /[a-z]/.test(term) ? Number(power ?? 1) : 0
    for (let k = coefficients.length; k <= degree; k++) coefficients.push(0n)
    coefficients[degree] = BigInt(`${sign}${factor}`)
  }
  return coefficients
}

/** Whether a root in ten-thousandths was rounded away from zero: the polynomial changes its sign just before it. */
function isPast(coefficients: readonly bigint[], root: number): boolean {
  // a root of even order is a root of the derivative where the sign does change
  for (let row = coefficients; row.length > 1; row = differentiate(row)) {
    const [before, at, after] = [-1, 0, 1].map((half) => getSign(row, BigInt(2 * root + half * Math.sign(root))))
    if (at === 0) return false
    if (before !== at) return true
    if (after !== at) return false
  }
  return false
}

function differentiate(coefficients: readonly bigint[]): bigint[] {
  return coefficients.slice(1).map((coefficient, k) => coefficient * BigInt(k + 1))
}

/** The sign of the polynomial at so many halves of a ten-thousandth. */
function getSign(coefficients: readonly bigint[], halves: bigint): number {
  let [value, scale] = [0n, 1n]
  for (const coefficient of coefficients.toReversed()) {
    value = value * halves + coefficient * scale
    scale *= BigInt(2 * SCALE)
  }
  return value === 0n ? 0 : value > 0n ? 1 : -1
}

const FractionMetadata = z.looseObject({ numerator: TypedInteger, denominator: TypedInteger })
const LATEX_OR_PLAIN_FRACTION_PATTERN =
  /^(?:\$?\\d?frac *\{ *(\d{1,40}) *\} *\{ *(\d{1,40}) *\}\$?|\$? *(\d{1,40}) *\/ *(\d{1,40}) *\$?)$/

export const fractionSimplification: Correction = {
  reason: 'Some fractions are in lowest terms already, 1/1 is not taken as 1, and a few keys are not in lowest terms.',
  decide({ entry }) {
    const { numerator, denominator } = FractionMetadata.parse(entry.metadata)
    const divisor = getDivisor(entry)
    return (answer) => {
      if (numerator === denominator && answer === '1') return true
      const [top, bottom] = (LATEX_OR_PLAIN_FRACTION_PATTERN.exec(answer) ?? [])
        .slice(1)
        .filter((part) => part !== undefined)
      if (top === undefined || bottom === undefined) return undefined
      return BigInt(top) * divisor === numerator && BigInt(bottom) * divisor === denominator
    }
  },
  hasRightAnswer: (entry) => getDivisor(entry) > 1n,
}

/** The greatest number that divides both parts of the fraction. */
function getDivisor({ metadata }: DatasetEntry): bigint {
  const { numerator, denominator } = FractionMetadata.parse(metadata)
  return getCommonDivisor(numerator, denominator)
}
