/** power_function, decimal_arithmetic and coin_flip: the exact value, rounded to the last digit of the answer, is right. */
import { z } from 'zod'
import { evaluateExactly } from '../hardened/expressions.ts'
import type { Fraction } from '../python/numbers.ts'
import { requireOracleAnswer } from '../scorer.ts'
import type { Correction } from './correction.ts'
import {
  divide,
  equals,
  getMagnitude,
  isMultipleOfPlace,
  isRounded,
  isRoundedTo,
  isWithin,
  multiply,
  powerOfTen,
  readDecimal,
  roundTo,
  roundToPlace,
  subtract,
  type WrittenDecimal,
} from './rounding.ts'

const POWER_PATTERN = /Compute (-?[\d.]+)\^(-?\d{1,3})\./
const POWER_DIGITS = 3
/** By how much of itself the float of a key may be off. */
const FLOAT_ERROR = powerOfTen(-12)

export const powerFunction: Correction = {
  reason: 'The question does not say that a power of -2 is one of (-2), and further digits of an answer are not read.',
  decide({ entry }) {
    const [, base = '', exponent = '0'] = POWER_PATTERN.exec(entry.question) ?? []
    const read = readDecimal(base)
    const exact = read && raise(read.value, Number(exponent))
    return (answer) => {
      if (exact === undefined) return undefined
      const given = readDecimal(answer)
      if (given === undefined) return false
      const isLong = given.lastPlace <= getMagnitude(exact) - POWER_DIGITS + 1
      return (
        isRoundedTo(POWER_DIGITS, given, exact) ||
        isWithin(given.value, exact, multiply(absolute(exact), FLOAT_ERROR)) ||
        (isLong && isRounded(given, exact))
      )
    }
  },
  clarification({ question }) {
    const [, base = '', exponent = '0'] = POWER_PATTERN.exec(question) ?? []
    return base.startsWith('-') && Number(exponent) % 2 === 0 ? `Note: the base is (${base}).` : undefined
  },
}

function raise({ numerator, denominator }: Fraction, exponent: number): Fraction {
  const power = BigInt(Math.abs(exponent))
  const raised = { numerator: numerator ** power, denominator: denominator ** power }
  return exponent < 0 ? divide({ numerator: 1n, denominator: 1n }, raised) : raised
}

const PlacesConfig = z.looseObject({ max_num_decimal_places: z.int() })
const PROBLEM_PATTERN = /maximum of (\d+) significant digits.*\n(.+) = \?$/

export const decimalArithmetic: Correction = {
  reason:
    'The key rounds after each operation, to the even digit, and an answer that is one off in its last place is paid.',
  decide({ entry, config }) {
    const problem = readProblem(entry.question)
    const distance = powerOfTen(-PlacesConfig.parse(config).max_num_decimal_places)
    return (answer) => {
      if (problem === undefined) return undefined
      const { exact, stepwise, digits } = problem
      const given = readDecimal(answer)
      if (given === undefined) return false
      const isShort = isMultipleOfPlace(given.value, getMagnitude(exact) - digits + 1)
      return (
        equals(given.value, stepwise) ||
        (isShort && isNear(given.value, exact, distance) && equals(given.value, roundToPlace(given.lastPlace, exact)))
      )
    }
  },
  clarification({ question, answer }) {
    const problem = readProblem(question)
    if (problem === undefined) return undefined
    const atTheEnd = roundTo(problem.digits, problem.exact)
    if (equals(atTheEnd, problem.stepwise)) return undefined
    const key = readDecimal(answer ?? '')
    return key !== undefined && equals(key.value, roundToPlace(key.lastPlace, problem.exact))
      ? 'Note: round the final value alone.'
      : `Note: round the result of each operation to ${problem.digits} significant digits.`
  },
}

interface Problem {
  digits: number
  exact: Fraction
  /** Rounded after each operation. */
  stepwise: Fraction
}

/** Undefined where the question has no expression. */
function readProblem(question: string): Problem | undefined {
  const [, count, expression] = PROBLEM_PATTERN.exec(question) ?? []
  const tokens = expression?.match(/[\d.]+|[-+*/()]/g) ?? []
  const digits = Number(count)
  const [exact, stepwise] = [evaluateExactly(tokens), evaluateExactly(tokens, (value) => roundTo(digits, value))]
  return exact && stepwise && { digits, exact, stepwise }
}

/** Not farther off than the library allows, nor than a hundredth of the value: 0 is not a small number. */
function isNear(given: Fraction, exact: Fraction, distance: Fraction): boolean {
  return isWithin(given, exact, distance) && isWithin(given, exact, multiply(absolute(exact), powerOfTen(-2)))
}

const FLIPS_PATTERN = /getting (exactly|at least) (\d{1,4}) heads in (\d{1,4}) fair coin flips/
const PERCENT_PATTERN = /^(\S{1,100}?) ?\\?%$/
const FRACTION_PATTERN = /^(\d{1,100}) ?\/ ?(\d{1,100})$/
const PROBABILITY_ERROR = powerOfTen(-4)
const KEY_DIGITS = 10

export const coinFlip: Correction = {
  reason: 'A fraction or decimal near the probability is paid, one head in thousands off, and a percentage is not.',
  decide({ entry }) {
    const exact = computeChance(entry.question)
    const key = readDecimal(requireOracleAnswer(entry))
    return (answer) => {
      if (exact === undefined) return undefined
      const bare = answer.replaceAll(',', '')
      const [, top, bottom] = FRACTION_PATTERN.exec(bare) ?? []
      if (top !== undefined && bottom !== undefined)
        return BigInt(top) * exact.denominator === BigInt(bottom) * exact.numerator && BigInt(bottom) > 0n
      const given = readChance(bare)
      if (given === undefined) return false
      if (key !== undefined && equals(given.value, key.value)) return true
      return isRounded(given, exact) && isNearChance(given, exact)
    }
  },
}

/** The chance of so many heads; undefined where the question asks for none. */
function computeChance(question: string): Fraction | undefined {
  const [, kind, heads, flips] = FLIPS_PATTERN.exec(question) ?? []
  if (kind === undefined) return undefined
  const [k, n] = [Number(heads), Number(flips)]
  let [ways, numerator] = [1n, 0n]
  for (let i = 0; i <= n; i++) {
    if (i === k || (i > k && kind === 'at least')) numerator += ways
    ways = (ways * BigInt(n - i)) / BigInt(i + 1)
  }
  return { numerator, denominator: 2n ** BigInt(n) }
}

function readChance(text: string): WrittenDecimal | undefined {
  const [, percent] = PERCENT_PATTERN.exec(text) ?? []
  const read = readDecimal(percent ?? text)
  if (read === undefined || percent === undefined) return read
  return { value: multiply(read.value, powerOfTen(-2)), lastPlace: read.lastPlace - 2 }
}

/** Within the library's distance and a hundredth of the chance, and of its opposite unless it has a key's digits. */
function isNearChance({ value, lastPlace }: WrittenDecimal, exact: Fraction): boolean {
  const opposite = subtract({ numerator: 1n, denominator: 1n }, exact)
  const bounds = lastPlace <= -KEY_DIGITS ? [exact] : [exact, opposite]
  const distances = [PROBABILITY_ERROR, ...bounds.map((bound) => multiply(bound, powerOfTen(-2)))]
  return distances.every((distance) => isWithin(value, exact, distance))
}

function absolute({ numerator, denominator }: Fraction): Fraction {
  return { numerator: numerator < 0n ? -numerator : numerator, denominator }
}
