/** Numbers: near is right only as far as rounding goes, and nan is no number. */
import { z } from 'zod'
import { TypedFloat, typedPair } from '../numbers/typed.ts'
import { oracleOf } from '../oracle.ts'
import { parseFraction } from '../python/fraction.ts'
import { loads } from '../python/json.ts'
import { PyValueError, parseFloat64, ratioToFloat } from '../python/numbers.ts'
import { caught } from '../python/raised.ts'
import { lower, strip, title } from '../python/text.ts'
import { PyFloat, type PyValue } from '../python/values.ts'
import { allOrNothing, decimalOf } from './all_or_nothing.ts'
import { type Hardening, isWhole } from './hardening.ts'
import { best, readingsOf } from './readings.ts'

/** Farther off than this is another number, not a rounded one. */
const ROUNDING = 0.5

/** The library's e^(-distance), none beyond rounding; `nan` and `inf` are no numbers. */
export const complexArithmetic: Hardening = ({ entry, upstream }) => {
  z.looseObject({ result: typedPair(TypedFloat) }).parse(entry.metadata)
  return (answer) =>
    best(readingsOf(answer), (reading) => {
      if (/nan|inf/i.test(reading)) return 0
      const score = upstream(reading)
      return score >= Math.exp(-ROUNDING) ? score : 0
    })
}

/** Within 1e-4 and within a hundredth of the probability and of its complement: `0` is not a small chance. */
export const coinFlip: Hardening = ({ entry, upstream }) => {
  const wanted = probabilityOf(oracleOf(entry)) ?? Number.NaN
  const tolerance = Math.max(Math.min(wanted, 1 - wanted) / 100, 1e-12)
  return (answer) =>
    best(readingsOf(answer), (reading) => {
      if (!isWhole(upstream(reading))) return 0
      return Math.abs((probabilityOf(reading) ?? Number.NaN) - wanted) <= tolerance ? 1 : 0
    })
}

function probabilityOf(text: string): number | undefined {
  return caught(() => {
    const { numerator, denominator } = parseFraction(text.replaceAll(',', ''))
    return ratioToFloat(numerator, denominator)
  }, undefined)
}

/** Within the library's tolerance and within a hundredth of the value, so that `0` is not a small number. */
export const decimalArithmetic: Hardening = ({ entry, upstream }) => {
  const wanted = Number(oracleOf(entry))
  return (answer) =>
    best(readingsOf(answer), (reading) => {
      const near = Math.abs(Number(reading) - wanted) <= Math.abs(wanted) / 100
      return decimalOf(reading) !== undefined && near && isWhole(upstream(reading)) ? 1 : 0
    })
}

/** The very numbers in their order, as texts or as numbers. */
export const numberSorting: Hardening = ({ entry }) => {
  const wanted = numbersOf(oracleOf(entry))
  if (wanted === undefined) throw new Error('the oracle is no list')
  return (answer) =>
    best(readingsOf(answer), (reading) => {
      const given = numbersOf(reading)
      return given?.length === wanted.length && given.every((number, i) => number === wanted[i]) ? 1 : 0
    })
}

function numbersOf(text: string): number[] | undefined {
  const list = caught(() => loads(text.replaceAll("'", '"')), null)
  if (!Array.isArray(list)) return undefined
  const numbers = list.map(numberOf)
  return numbers.every((number) => number !== undefined) ? numbers : undefined
}

function numberOf(value: PyValue): number | undefined {
  if (value instanceof PyFloat) return value.value
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'string' && decimalOf(strip(value)) ? Number(strip(value)) : undefined
}

const quantity = /-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?/g

/** The only number in the answer, with its sign and its thousands. */
export const gsmSymbolic: Hardening = (item) => {
  const right = allOrNothing(item)
  const wanted = decimalOf(strip(oracleOf(item.entry)))
  return (answer) => {
    const score = best(readingsOf(answer), (reading) => {
      const [only, ...others] = reading.match(quantity) ?? []
      const given = only === undefined || others.length > 0 ? undefined : decimalOf(only.replaceAll(',', ''))
      return given !== undefined && wanted?.equals(given) ? 1 : 0
    })
    return score === 1 || (decimalOf(strip(answer)) && right(answer) === 1) ? 1 : 0
  }
}

/** The library takes a right radius for right only as the very text; here its value counts, and 0.5 for two right places. */
export const advancedGeometry: Hardening = (item) => {
  const { task_type: kind } = z.looseObject({ task_type: z.string() }).parse(item.entry.metadata)
  const right = allOrNothing(item)
  if (kind !== 'incircle_radius') return right
  const oracle = floatOf(oracleOf(item.entry))
  return (answer) => {
    if (right(answer) === 1) return 1
    return readingsOf(answer).some((reading) => places(floatOf(reading), 2) === places(oracle, 2)) ? 0.5 : 0
  }
}

function floatOf(text: string): number {
  try {
    return parseFloat64(text)
  } catch (error) {
    if (error instanceof PyValueError) return Number.NaN
    throw error
  }
}

function places(number: number, count: number): string | undefined {
  return Number.isFinite(number) ? number.toFixed(count) : undefined
}

/** Weekdays in any letter case; no credit for another day or a count nearby. */
export const calendarArithmetic: Hardening = (item) => {
  const oracle = oracleOf(item.entry)
  const right = allOrNothing(item)
  const same = (reading: string) => reading.length === oracle.length && title(reading) === oracle
  return (answer) => (readingsOf(answer).some(same) ? 1 : right(answer))
}

/** What the library pays where roots are a hundredth off on average. */
const ROUNDED_ROOTS = 0.9
const NO_ROOTS = new Set(['', '""', "''", '[]', 'none', 'no real solutions', 'no real solution', 'no solution'])

/**
 * The library's score for as many roots as there are, each as near as rounding goes: one root of two, such as the 0 of
 * `x² - x`, is worth nothing, and neither is 0 for a root near it.
 * Where there is none only an answer that says so is right, not any text without a number.
 */
export const polynomialEquations: Hardening = ({ entry, upstream }) => {
  const oracle = oracleOf(entry).trim()
  const count = oracle.split(',').length
  return (answer) =>
    best(readingsOf(answer), (reading) => {
      if (oracle === '') return NO_ROOTS.has(lower(reading)) ? 1 : 0
      const roots = reading.split(',')
      const score = roots.length === count && roots.every((root) => decimalOf(strip(root))) ? upstream(reading) : 0
      return score >= ROUNDED_ROOTS ? score : 0
    })
}

/** The factors; not the number itself or other factors of it, unless they are right. `*` and `\times` are read as `×`. */
export const primeFactorization: Hardening = ({ entry, upstream }) => {
  const oracle = oracleOf(entry)
  return (answer) =>
    best(readingsOf(answer), (reading) => {
      const standard = reading.replaceAll(/\\times|\\cdot|\*/g, '×')
      return reading === oracle || isWhole(upstream(standard)) ? 1 : 0
    })
}
