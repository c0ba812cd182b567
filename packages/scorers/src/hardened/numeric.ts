/** Numbers: near is right only as far as rounding goes, and nan is no number. */
import { z } from 'zod'
import { TypedFloat, typedPair } from '../numbers.ts'
import { loads } from '../python/json.ts'
import { catchPythonError, tryParseFloat64 } from '../python/numbers.ts'
import { lower, strip, title } from '../python/text.ts'
import { PyFloat, type PyValue } from '../python/values.ts'
import { requireOracleAnswer } from '../scorer.ts'
import { allOrNothing } from './all-or-nothing.ts'
import { type HardenedScorer, isFullScore, scoreBestReading } from './hardened-scorer.ts'
import { getBareAnswer, listAnswerVariants, parsePlainDecimal } from './notations.ts'

/** Farther off than this is another number, not a rounded one. */
const MAX_ROUNDING_DISTANCE = 0.5

const IMAGINARY_FIRST_PATTERN = /^([+-]?[\d.]{0,40}[ij]) ?([+-]) ?([\d.]{1,40})$/i

/** The library's e^(-distance), none beyond rounding; `nan` and `inf` are no numbers. It reads no `2i + 1`. */
export const complexArithmetic: HardenedScorer = ({ entry, upstream }) => {
  z.looseObject({ result: typedPair(TypedFloat) }).parse(entry.metadata)
  return scoreBestReading((reading) => {
    if (/nan|inf/i.test(reading)) return 0
    const [, imaginary = '', sign = '', real = ''] = IMAGINARY_FIRST_PATTERN.exec(reading) ?? []
    const turned = `${sign}${real}${/^[+-]/.test(imaginary) ? '' : '+'}${imaginary}`
    const score = upstream(real === '' ? reading : turned)
    return score >= Math.exp(-MAX_ROUNDING_DISTANCE) ? score : 0
  })
}

/** The very numbers in their order, as texts or as numbers. */
export const numberSorting: HardenedScorer = ({ entry }) => {
  const wanted = parseNumbers(requireOracleAnswer(entry))
  if (wanted === undefined) throw new Error('the oracle is not a list')
  return scoreBestReading((reading) => {
    const given = parseNumbers(reading)
    return given?.length === wanted.length && given.every((number, i) => number === wanted[i]) ? 1 : 0
  })
}

function parseNumbers(text: string): number[] | undefined {
  const list = catchPythonError(() => loads(text.replaceAll("'", '"')), null)
  if (!Array.isArray(list)) return undefined
  const numbers = list.map(toNumber)
  return numbers.every((number) => number !== undefined) ? numbers : undefined
}

function toNumber(value: PyValue): number | undefined {
  if (value instanceof PyFloat) return value.value
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'string' && parsePlainDecimal(strip(value)) ? Number(strip(value)) : undefined
}

const QUANTITY_PATTERN = /-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?/g
/** What changes the value of a number beside it, or makes a second guess of the text. */
const OTHER_VALUE_PATTERN =
  /[^\s!-~€£]|[\d.](?!%)[A-Za-z^/*]|[A-Za-z^/*√]\.?\d|\d\s*[%^/*]|[<>~]|\b(?:minus|negative|not|no|or|nor|half|third|quarter|dozen|hundred|thousand|k|m|bn|million|billion|times|squared|than|about)\b/i

/** The only number in the answer, with its sign and its thousands. */
export const gsmSymbolic: HardenedScorer = ({ entry }) => {
  const wanted = parsePlainDecimal(strip(requireOracleAnswer(entry)))
  const isWanted = (text: string) => wanted !== undefined && (parsePlainDecimal(text)?.equals(wanted) ?? false)
  const asksForPercentage = /\b(?:what|as a) percent/i.test(entry.question)
  return scoreBestReading((text) => {
    const reading = asksForPercentage ? text.replace(/(\d) ?\\?%(?![%\w])/, '$1 percent') : text
    if (isWanted(reading)) return 1
    const [only, ...others] = reading.match(QUANTITY_PATTERN) ?? []
    const isOnlyNumber = only !== undefined && others.length === 0 && !OTHER_VALUE_PATTERN.test(reading)
    return isOnlyNumber && isWanted(only.replaceAll(',', '')) ? 1 : 0
  })
}

/** The library reads a fraction of LaTeX at the start and ignores what follows. */
const TEXT_AFTER_FRACTION_PATTERN = /frac\s*\{[^{}]*\}\s*\{[^{}]*\}[\s$]*[^\s$]/i

/** One fraction: a second guess behind it is not ignored. */
export const fractionSimplification: HardenedScorer = (item) => {
  const right = allOrNothing(item)
  return (answer) => (TEXT_AFTER_FRACTION_PATTERN.test(getBareAnswer(answer)) ? 0 : right(answer))
}

/** Models write `45 D` too, after the format that the question names, and `1 day`. */
const TIME_SPAN_PATTERN = /^(?:\d+ ?(?:D|days?)?|(?:\d+ days?, *)?\d{1,3}(?::[0-5]\d){1,2}(?:\.\d{3})?)$/i
/** As the hours of a day with and without seconds. */
const HOURS_PATTERN = /, *(?:[01]\d|2[0-3]):/

/** One span of time in the units and the parts that the question names: the library ignores what follows the days. */
export const timeIntervals: HardenedScorer = (item) => {
  const right = allOrNothing(item)
  const parts = countParts(requireOracleAnswer(item.entry))
  return (answer) => {
    const bare = getBareAnswer(answer)
    const isSpan = TIME_SPAN_PATTERN.test(bare) && countParts(bare) === parts
    return isSpan && (!bare.includes(',') || HOURS_PATTERN.test(bare)) ? right(bare.replace(/day,/i, 'days,')) : 0
  }
}

/** Days, hours, minutes, seconds and thousandths. */
function countParts(span: string): number {
  return span.split(/[,:.]/).length
}

/** The library takes a right radius for right only as the very text; here its value counts, and 0.5 for two right places. */
export const advancedGeometry: HardenedScorer = (item) => {
  const { task_type: kind } = z.looseObject({ task_type: z.string() }).parse(item.entry.metadata)
  const right = allOrNothing(item)
  if (kind !== 'incircle_radius') return right
  const oracle = parseFloatOrNaN(requireOracleAnswer(item.entry))
  return (answer) => {
    if (right(answer) === 1) return 1
    return listAnswerVariants(answer).some(
      (reading) => formatPlaces(parseFloatOrNaN(reading), 2) === formatPlaces(oracle, 2),
    )
      ? 0.5
      : 0
  }
}

function parseFloatOrNaN(text: string): number {
  return tryParseFloat64(text) ?? Number.NaN
}

function formatPlaces(number: number, count: number): string | undefined {
  return Number.isFinite(number) ? number.toFixed(count) : undefined
}

/** Weekdays in any letter case; no credit for another day or a count nearby. */
export const calendarArithmetic: HardenedScorer = (item) => {
  const oracle = requireOracleAnswer(item.entry)
  const right = allOrNothing(item)
  const same = (reading: string) => reading.length === oracle.length && title(reading) === oracle
  return (answer) => (listAnswerVariants(answer).some(same) ? 1 : right(answer))
}

const ROOT_NAME_PATTERN = /^\s{0,9}[A-Za-z](?:_?\d|_\{\d\})?\s{0,9}(?:=|≈|\\approx)/
/** What the library pays where roots are a hundredth off on average. */
const MIN_ROOTS_SCORE = 0.9
const NO_ROOTS_ANSWERS = new Set(['', '""', "''", '[]', 'none', 'no real solutions', 'no real solution', 'no solution'])

/**
 * The library's score for as many roots as there are, each as near as rounding goes: one root of two, such as the 0 of
 * `x² - x`, is worth nothing, and neither is 0 for a root near it.
 * Where there is none only an answer that says so is right, not any text without a number.
 */
export const polynomialEquations: HardenedScorer = ({ entry, upstream }) => {
  const oracle = requireOracleAnswer(entry).trim()
  const count = oracle.split(',').length
  return scoreBestReading((reading) => {
    if (oracle === '') return NO_ROOTS_ANSWERS.has(lower(reading)) ? 1 : 0
    const roots = reading.split(',').map((root) => strip(root.replace(ROOT_NAME_PATTERN, '')))
    const score =
      roots.length === count && roots.every((root) => parsePlainDecimal(root)) ? upstream(roots.join(', ')) : 0
    return score >= MIN_ROOTS_SCORE ? score : 0
  })
}

/** The factors; not the number itself or other factors of it, unless they are right. Other signs of multiplication are read as `×`. */
export const primeFactorization: HardenedScorer = ({ entry, upstream }) => {
  const oracle = requireOracleAnswer(entry)
  const { number } = z.looseObject({ number: z.int() }).parse(entry.metadata)
  return scoreBestReading((reading) => {
    const [before, after = before] = reading.split(/=(.*)/s)
    const product = strip(before ?? '') === String(number) ? (after ?? '') : reading
    const plain = product.replaceAll(BOLD_PATTERN, '$1')
    const standard = strip(plain.replaceAll(/\\times|\\cdot|[*xX·⋅∗✕]/g, '×'))
    return reading === oracle || (!/×\s*×/.test(standard) && isFullScore(upstream(standard))) ? 1 : 0
  })
}

/** Not the powers of `2**3**5`. */
const BOLD_PATTERN = /(?<!\d)\*\*((?:[^*]|\*(?!\*))+)\*\*(?!\d)/g
