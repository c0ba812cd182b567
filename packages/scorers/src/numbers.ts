/** Rules that read one number from the answer. */
import { z } from 'zod'
import { Decimal } from './python/decimal.ts'
import {
  catchPythonError,
  formatGeneral,
  parseComplex,
  parseFloat64,
  parseFraction,
  parseInteger,
  ratioToFloat,
} from './python/numbers.ts'
import { lower, PY_D, PY_W, strip } from './python/text.ts'
import { defineOracleScorer, defineScorer, InvalidAnswerError, requireFinite } from './scorer.ts'
import { getSubstringCredit } from './texts.ts'

const TaggedFloat = z.strictObject({ $float: z.string() }).transform((value) => parseFloat64(value.$float))
const TaggedInteger = z.strictObject({ $int: z.string() }).transform((value) => parseHexInteger(value.$int))

// Schemas for numbers in the typed JSON of `src/engine/python/typed_json.py`.

/** A float or an int, as the nearest double. */
export const TypedFloat = z.union([z.number(), TaggedFloat, TaggedInteger.transform(Number)])

/** An int of any size. */
export const TypedInteger = z.union([z.int().transform(BigInt), TaggedInteger])

/** A tuple of two. */
export function typedPair<Part extends z.ZodType>(part: Part) {
  return z.strictObject({ $tuple: z.tuple([part, part]) }).transform((value) => value.$tuple)
}

/** BigInt reads no sign before `0x`. */
export function parseHexInteger(text: string): bigint {
  return text.startsWith('-') ? -BigInt(text.slice(1)) : BigInt(text)
}

const TOKEN_PATTERN = /0x[0-9a-f]+|<<|>>|[()+*-]/g
const OPERATIONS: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '<<': (a, b) => a << b,
  '>>': (a, b) => a >> b,
}

/** Equal to the value of the problem, in any base with its prefix. Rule of `reasoning_gym/arithmetic/bitwise_arithmetic.py`. */
export const bitwiseArithmetic = defineScorer({
  metadata: z.looseObject({ problem: z.string().transform(evaluateProblem) }),
  score: (answer, { metadata }) => catchPythonError(() => (parseInteger(answer, 0) === metadata.problem ? 1 : 0), 0),
})

/** The value of an expression of hexadecimal numbers in which every operation has its own brackets. */
function evaluateProblem(problem: string): bigint {
  const values: bigint[] = []
  const operators: string[] = []
  for (const [part] of problem.matchAll(TOKEN_PATTERN)) {
    if (part in OPERATIONS) operators.push(part)
    else if (part.startsWith('0x')) values.push(BigInt(part))
    else if (part === ')') {
      const [a, b] = values.splice(-2)
      const operation = OPERATIONS[operators.pop() ?? '']
      if (a === undefined || b === undefined || operation === undefined) throw new Error(`no expression: ${problem}`)
      values.push(operation(a, b))
    }
  }
  const [value, ...rest] = values
  if (value === undefined || rest.length + operators.length > 0) throw new Error(`no expression: ${problem}`)
  return value
}

const PROBABILITY_TOLERANCE = 1e-4
const PROBABILITY_DIGITS = 10

/** Within 1e-4 of the probability, else the share of leading characters that are right. Rule of `reasoning_gym/probability/coin_flip.py`. */
export const coinFlip = defineOracleScorer((answer, oracle) =>
  catchPythonError(() => {
    const [given, wanted] = [requireFinite(parseProbability(answer)), parseProbability(oracle)]
    return Math.abs(given - wanted) <= PROBABILITY_TOLERANCE ? 1 : getCommonPrefixShare(given, wanted)
  }, 0),
)

/** The value of a fraction as a float, commas left out; infinite where it is too large for one. Throws PyValueError. */
function parseProbability(text: string): number {
  const { numerator, denominator } = parseFraction(text.replaceAll(',', ''))
  return ratioToFloat(numerator, denominator)
}

function getCommonPrefixShare(given: number, wanted: number): number {
  const [a, b] = [formatGeneral(given, PROBABILITY_DIGITS), formatGeneral(wanted, PROBABILITY_DIGITS)]
  const shorter = Math.min(a.length, b.length)
  let equal = 0
  while (equal < shorter && a[equal] === b[equal]) equal++
  return equal / shorter
}

type ComplexPair = [real: number, imaginary: number]

/** e^(-distance) from the number wanted; `nan` is at no distance at all. Rule of `reasoning_gym/algebra/complex_arithmetic.py`. */
export const complexArithmetic = defineScorer({
  metadata: z.looseObject({ result: typedPair(TypedFloat) }),
  score(answer, entry) {
    const given = parseComplexAnswer(answer)
    if (given === undefined) return 0
    const [real, imaginary] = entry.metadata.result
    const [x, y] = [given[0] - real, given[1] - imaginary]
    const distance = Math.hypot(x, y)
    if (distance === Infinity && Number.isFinite(x) && Number.isFinite(y))
      throw new InvalidAnswerError('too far to measure')
    return Number.isNaN(distance) ? 1 : Math.exp(-distance)
  },
})

function parseComplexAnswer(answer: string): ComplexPair | undefined {
  const bare = removeBrackets(lower(answer.replaceAll(' ', ''))).replaceAll('i', 'j')
  return catchPythonError(() => parseComplexText(bare), undefined)
}

function parseComplexText(text: string): ComplexPair | undefined {
  if (!text.includes('j')) return [parseFloat64(text), 0]
  if (text === 'j' || text === '-j') return [0, text === 'j' ? 1 : -1]
  if (isImaginary(text)) return [0, parseFloat64(text.slice(0, -1))]
  if (!text.endsWith('j')) return undefined
  return parseComplex(text.replaceAll('+j', '+1j').replaceAll('-j', '-1j'))
}

/** One coefficient and `j`; after a minus the last character may be any, as the library has it. */
function isImaginary(text: string): boolean {
  const signed = (from: number) => /[+-]/.test(text.slice(from, -1))
  return (text.endsWith('j') && !signed(0)) || (text.startsWith('-') && !signed(1))
}

function removeBrackets(text: string): string {
  let [start, end] = [0, text.length]
  while (end - start > 1 && text[start] === '(' && text[end - 1] === ')') {
    start++
    end--
  }
  return text.slice(start, end)
}

// Making an item sets the precision of all the process's decimals: a score is taken to follow the making of its item.
const PrecisionConfig = z.looseObject({ max_num_decimal_places: z.int(), precision: z.int() })

/** Within one unit of the last decimal place asked for. Rule of `reasoning_gym/arithmetic/decimal_arithmetic.py`. */
export const decimalArithmetic = defineOracleScorer((answer, oracle, config) => {
  const { max_num_decimal_places: places, precision } = PrecisionConfig.parse(config)
  return catchPythonError(() => {
    const difference = Decimal.parse(answer).subtract(Decimal.parse(oracle), precision)
    return difference.abs().compare(Decimal.powerOfTen(-places)) <= 0 ? 1 : 0
  }, 0)
})

/** Equal as decimals without commas, else the oracle's share. Rule of `compute_decimal_reward` in `reasoning_gym/utils.py`, for chain_sum and products. */
export const decimalValue = defineOracleScorer((answer, oracle) => {
  const [given, wanted] = [answer.replaceAll(',', ''), oracle.replaceAll(',', '')]
  return equalsAsDecimal(given, wanted) ? 1 : getSubstringCredit(wanted, given)
})

/** Integers that a double holds, as they are mostly written. */
const PLAIN_INTEGER_PATTERN = /^-?\d{1,15}$/

/** Whether two texts are decimals of equal value. */
function equalsAsDecimal(a: string, b: string): boolean {
  if (PLAIN_INTEGER_PATTERN.test(a) && PLAIN_INTEGER_PATTERN.test(b)) return Number(a) === Number(b)
  return catchPythonError(() => {
    const one = Decimal.tryParse(a)
    const other = one && Decimal.tryParse(b)
    return one !== undefined && other !== undefined && one.equals(other)
  }, false)
}

/** Equal as decimals. Rule of `reasoning_gym/arithmetic/decimal_chain_sum.py`. */
export const decimalChainSum = defineOracleScorer((answer, oracle) => (equalsAsDecimal(answer, oracle) ? 1 : 0))

const POWER_DIGITS = 3

/** Equal to three significant figures, else 0.01. Rule of `reasoning_gym/arithmetic/power_function.py`. */
export const powerFunction = defineOracleScorer((answer, oracle) =>
  catchPythonError(() => {
    const wanted = Decimal.parse(oracle).round(POWER_DIGITS)
    return Decimal.parse(answer).round(POWER_DIGITS).equals(wanted) ? 1 : 0.01
  }, 0.01),
)

/** Less than 0.01 away, commas left out. Rule of `reasoning_gym/arithmetic/number_format.py`. */
export const numberFormat = defineScorer({
  metadata: z.looseObject({ solution: TypedFloat }),
  score(answer, { metadata: { solution } }) {
    const bare = strip(answer).replaceAll(',', '')
    return catchPythonError(() => (Math.abs(parseFloat64(bare) - solution) < 1e-2 ? 1 : 0), 0)
  },
})

const WORD_BOUNDARY = `(?:(?<=${PY_W})(?!${PY_W})|(?<!${PY_W})(?=${PY_W}))`
const NUMBER_PATTERN = new RegExp(`${WORD_BOUNDARY}-?${PY_D}+(?:\\.${PY_D}+)?${WORD_BOUNDARY}`, 'v')

/** The first number in the answer, equal as a float; 0.01 for any other number. Rule of `reasoning_gym/arithmetic/gsm_symbolic/gsm_symbolic.py`. */
export const gsmSymbolic = defineOracleScorer((answer, oracle) => {
  const found = NUMBER_PATTERN.exec(answer)
  if (found === null) return 0
  return catchPythonError(() => (parseFloat64(found[0]) === parseFloat64(oracle) ? 1 : 0.01), 0)
})

const MAX_ERROR = 5
const MAX_PARTIAL_CREDIT = 0.8

/** The count, or less by 0.16 for each one it is off, to none at five. Rule of `reasoning_gym/cognition/rectangle_count.py`. */
export const rectangleCount = defineOracleScorer((answer, oracle) =>
  catchPythonError(() => {
    const off = Math.abs(Number(parseInteger(strip(answer)) - parseInteger(oracle)))
    if (off === 0) return 1
    return off >= MAX_ERROR ? 0 : MAX_PARTIAL_CREDIT * (1 - off / MAX_ERROR)
  }, 0),
)
