/** Rules that read several numbers, or a number with a unit: angles and points, dates, spans of time, fractions, factors and roots. */
import { z } from 'zod'
import { TypedInteger, typedPair } from './numbers.ts'
import {
  catchPythonError,
  PyValueError,
  parseFloat64,
  parseInteger,
  ratioToFloat,
  tryParseFloat64,
} from './python/numbers.ts'
import { lower, PY_D, PY_S, splitWhitespace, strip, title } from './python/text.ts'
import {
  defineOracleScorer,
  defineScorer,
  requireFinite,
  requireOracleAnswer,
  rethrowAsInvalidAnswer,
} from './scorer.ts'

const GeometryMetadata = z.discriminatedUnion('task_type', [
  z.looseObject({ task_type: z.literal('angle_measure') }),
  z.looseObject({ task_type: z.literal('orthocenter'), ortho: typedPair(z.string()) }),
  z.looseObject({ task_type: z.literal('incircle_radius'), incircle_radius_exact: z.string() }),
])
type GeometryMetadata = z.infer<typeof GeometryMetadata>

/** An angle, a point or a radius, equal when rounded. Rule of `reasoning_gym/geometry/advanced_geometry.py`. */
export const advancedGeometry = defineScorer<GeometryMetadata>({
  metadata: GeometryMetadata,
  score: (answer, entry) =>
    catchPythonError(() => scoreByTaskType(answer, requireOracleAnswer(entry), entry.metadata), 0.01),
})

function scoreByTaskType(answer: string, oracle: string, metadata: GeometryMetadata): number {
  switch (metadata.task_type) {
    case 'angle_measure':
      return roundHalfEven(parseDegrees(answer), 2) === roundHalfEven(parseDegrees(oracle), 2) ? 1 : 0.05
    case 'orthocenter': {
      const [x, y] = parsePoint(answer)
      const [wantedX, wantedY] = metadata.ortho.map(parseRational)
      return isNear(x, wantedX) && isNear(y, wantedY) ? 1 : 0.01
    }
    case 'incircle_radius':
      if (answer === oracle) return 1
      // Most exact radii are roots, which are no float: the library then ends at 0.01, however near the answer.
      return roundHalfEven(parseFloat64(answer), 2) === roundHalfEven(parseFloat64(metadata.incircle_radius_exact), 2)
        ? 0.5
        : 0.05
  }
}

function parseDegrees(text: string): number {
  return parseFloat64(text.replaceAll('°', ''))
}

function parsePoint(text: string): [number, number] {
  const [first = '', second] = text.split(',', 2)
  const x = parseFloat64(strip(first.replaceAll('(', '')))
  if (second === undefined) throw new PyValueError('no second coordinate')
  return [x, parseFloat64(strip(second.replaceAll(')', '')))]
}

function parseRational(text: string): number {
  const [numerator = '', denominator] = text.split('/')
  if (denominator === undefined) return parseFloat64(numerator)
  return ratioToFloat(parseInteger(numerator), parseInteger(denominator))
}

function isNear(a: number, b: number | undefined): boolean {
  return b !== undefined && (a === b || roundHalfEven(a, 3) === roundHalfEven(b, 3))
}

/** numpy's `round`: scaled, rounded half-even, scaled back; not Python's own. */
function roundHalfEven(x: number, places: number): number {
  const scale = 10 ** places
  const scaled = x * scale
  const floor = Math.floor(scaled)
  const rest = scaled - floor
  const up = rest > 0.5 || (rest === 0.5 && floor % 2 !== 0)
  return (up ? floor + 1 : floor) / scale
}

const WEEKDAYS = new Set(['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'])
const MAX_WEEKDAY_LENGTH = 'Wednesday'.length
const COUNT_DECAY = -5

/** A weekday, a count (e^(-5·relative error)) or yes and no, as the question asks. Rule of `reasoning_gym/arithmetic/calendar_arithmetic.py`. */
export const calendarArithmetic = defineScorer({
  metadata: z.looseObject({ task: z.string() }),
  score(answer, entry) {
    const oracle = requireOracleAnswer(entry)
    if (answer === '') return 0
    switch (entry.metadata.task) {
      case 'weekday_offset':
      case 'weekday_of_date_from_first_date':
      case 'weekday_of_date':
        return scoreWeekday(strip(answer), oracle)
      case 'count_business_days':
      case 'count_days':
      case 'recurring_event_day':
        return scoreCount(strip(answer), strip(oracle))
      case 'is_leap_year':
        return lower(strip(answer)) === lower(oracle) ? 1 : 0
      default:
        return 0
    }
  },
})

function scoreWeekday(answer: string, oracle: string): number {
  if (answer === oracle) return 1
  if (WEEKDAYS.has(answer)) return 0.1
  return answer.length <= MAX_WEEKDAY_LENGTH && WEEKDAYS.has(title(answer)) ? 0.05 : 0
}

/** The oracle may be -1, where errors raise the score: the library's own, and clamped by the caller. */
function scoreCount(answer: string, oracle: string): number {
  return catchPythonError(() => {
    const [given, wanted] = [parseInteger(answer), parseInteger(oracle)]
    if (wanted === 0n) return given === 0n ? 1 : 0
    const off = given < wanted ? wanted - given : given - wanted
    const relative = wanted < 0n ? -ratioToFloat(off, -wanted) : ratioToFloat(off, wanted)
    return requireFinite(Math.exp(COUNT_DECAY * requireFinite(relative)))
  }, 0)
}

const BRACED_NUMBER = `${PY_S}*\\{${PY_S}*(${PY_D}+)${PY_S}*\\}`
const LATEX_FRACTION_PATTERN = new RegExp(`^\\\\d?frac${BRACED_NUMBER}${BRACED_NUMBER}`, 'iv')

/** Both parts of the simplified fraction, or 0.1 for one part of the given one. Rule of `reasoning_gym/arithmetic/fraction_simplification.py`. */
export const fractionSimplification = defineScorer({
  metadata: z.looseObject({
    numerator: TypedInteger,
    denominator: TypedInteger,
    simplified_numerator: TypedInteger,
    simplified_denominator: TypedInteger,
  }),
  score(answer, { metadata }) {
    const found = parseFractionParts(answer)
    if (found === undefined) return 0.01
    const [numerator, denominator] = found
    if (numerator === metadata.simplified_numerator && denominator === metadata.simplified_denominator) return 1
    return numerator === metadata.numerator || denominator === metadata.denominator ? 0.1 : 0.05
  },
})

function parseFractionParts(answer: string): [bigint, bigint] | undefined {
  const bare = strip(strip(strip(answer), '$'))
  const [, top, bottom] = LATEX_FRACTION_PATTERN.exec(bare) ?? bare.match(/^([^/]*)\/(.*)$/s) ?? []
  if (top === undefined || bottom === undefined) return undefined
  return catchPythonError(() => [parseInteger(strip(top)), parseInteger(strip(bottom))], undefined)
}

const ROOT_DECAY = -10
const ROOT_PENALTY = 0.5

/** Each root given takes the nearest one wanted, e^(-10·distance); half a point off for each missing or extra. Rule of `reasoning_gym/algebra/polynomial_equations.py`. */
export const polynomialEquations = defineOracleScorer((answer, oracle) => {
  const [wanted, given] = [parseRoots(oracle), parseRoots(answer)]
  if (wanted.length === 0 && given.length === 0) return 1
  let [reward, matched] = [0, 0]
  for (const root of given) {
    const nearest = findNearest(root, wanted)
    if (nearest === undefined) continue
    reward += Math.exp(nearest.distance * ROOT_DECAY)
    matched++
    wanted.splice(nearest.index, 1)
  }
  const penalty = (wanted.length + given.length - matched) * ROOT_PENALTY
  return Math.max(0, (matched > 0 ? reward / matched : 0) - penalty)
})

/** Sorted as Python does, NaN and all: V8's sort is a port of CPython's. */
function parseRoots(text: string): number[] {
  const roots = text.split(',').map((part) => tryParseFloat64(strip(part)))
  return roots.filter((root) => root !== undefined).sort((a, b) => (a < b ? -1 : 1))
}

function findNearest(root: number, wanted: readonly number[]): { index: number; distance: number } | undefined {
  let nearest: { index: number; distance: number } | undefined
  for (const [index, other] of wanted.entries()) {
    const distance = Math.abs(root - other)
    if (distance < (nearest?.distance ?? Infinity)) nearest = { index, distance }
  }
  return nearest
}

/** The same factors, 0.5 for others of the same product, else 0.01; raises on what is no integer. Rule of `reasoning_gym/arithmetic/prime_factorization.py`. */
export const primeFactorization = defineOracleScorer((answer, oracle) => {
  const [wanted, given] = [parseFactors(oracle), parseFactors(answer)]
  if (wanted.length === given.length && formatMultiset(wanted) === formatMultiset(given)) return 1
  const product = wanted.reduce((total, factor) => total * factor, 1n)
  return hasProduct(given, product) ? 0.5 : 0.01
})

function parseFactors(text: string): bigint[] {
  const parts = text.split('×').map((part) => strip(part))
  return rethrowAsInvalidAnswer(() => parts.filter((part) => part !== '').map((part) => parseInteger(part)))
}

/** A multiset as text: any order will do, as long as it is always the same. */
export function formatMultiset(numbers: readonly bigint[]): string {
  return numbers.toSorted((a, b) => Number(a > b) - Number(a < b)).join()
}

/** Stops when the product exceeds the target: without a zero it never shrinks again. */
function hasProduct(factors: readonly bigint[], wanted: bigint): boolean {
  if (factors.includes(0n)) return wanted === 0n
  const bound = wanted < 0n ? -wanted : wanted
  let product = 1n
  for (const factor of factors) {
    product *= factor
    if (product > bound || -product > bound) return false
  }
  return product === wanted
}

const LongestSpanConfig = z.looseObject({
  max_time_difference_seconds: z.number(),
  max_date_difference_days: z.number(),
})
const SECONDS_PER_DAY = 86400n

/** An int or, with milliseconds, a float, as Python has it. */
type Seconds = bigint | number

/** A span of time, less by its share of the longest one for being off. Rule of `reasoning_gym/arithmetic/time_intervals.py`. */
export const timeIntervals = defineScorer({
  metadata: z.looseObject({ task_type: z.string() }),
  score(answer, entry, config) {
    const oracle = requireOracleAnswer(entry)
    const longest = LongestSpanConfig.parse(config)
    const days = BigInt(longest.max_date_difference_days)
    return catchPythonError(() => {
      if (entry.metadata.task_type === 'date') return getCloseness(parseDays(answer), parseDays(oracle), days)
      if (!entry.metadata.task_type.startsWith('time'))
        return getCloseness(parseTimeSpan(answer), parseTimeSpan(oracle), days * SECONDS_PER_DAY)
      return getCloseness(parseTime(answer), parseTime(oracle), BigInt(longest.max_time_difference_seconds))
    }, 0)
  },
})

/** `12 days` */
function parseDays(text: string): bigint {
  return parseInteger(requirePart(splitWhitespace(text), 0))
}

/** `HH:MM`, `HH:MM:SS` or `HH:MM:SS.mmm`, where what follows the point counts thousandths whatever its length. */
function parseTime(text: string): Seconds {
  const parts = strip(text).split(':')
  const minutes = parseInteger(requirePart(parts, 0)) * 3600n + parseInteger(requirePart(parts, 1)) * 60n
  if (parts.length < 3) return minutes
  const seconds = requirePart(parts, 2).split('.')
  if (seconds.length > 2) throw new PyValueError('two points')
  const whole = parseInteger(requirePart(seconds, 0))
  if (seconds.length === 1) return minutes + whole
  const thousandths = requireFinite(ratioToFloat(parseInteger(requirePart(seconds, 1)), 1000n))
  return toFloat(minutes) + (toFloat(whole) + thousandths)
}

/** `12 days, HH:MM` or `12 days, HH:MM:SS` */
function parseTimeSpan(text: string): bigint {
  const days = parseInteger(requirePart(text.split(' days,', 1), 0))
  const parts = strip(requirePart(text.split(','), 1)).split(':')
  const minutes = parseInteger(requirePart(parts, 0)) * 3600n + parseInteger(requirePart(parts, 1)) * 60n
  return days * SECONDS_PER_DAY + minutes + (parts.length > 2 ? parseInteger(requirePart(parts, 2)) : 0n)
}

function getCloseness(given: Seconds, wanted: Seconds, longest: bigint): number {
  if (given >= wanted && given <= wanted) return 1
  return Math.max(0, 1 - getRelativeError(given, wanted, longest))
}

function getRelativeError(given: Seconds, wanted: Seconds, longest: bigint): number {
  if (typeof given === 'bigint' && typeof wanted === 'bigint') {
    return requireFinite(ratioToFloat(given < wanted ? wanted - given : given - wanted, longest))
  }
  return Math.abs(toFloat(given) - toFloat(wanted)) / Number(longest)
}

/** Only an int can be too large here; a float may be infinite. */
function toFloat(value: Seconds): number {
  return typeof value === 'bigint' ? requireFinite(Number(value)) : value
}

/** Python's IndexError counts as ValueError here. */
function requirePart(parts: readonly string[], index: number): string {
  const found = parts[index]
  if (found === undefined) throw new PyValueError('a part is missing')
  return found
}
