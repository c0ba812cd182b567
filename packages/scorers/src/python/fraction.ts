/**
 * Python's `Fraction(text)`, as an exact numerator and denominator. Only the syntax takes work, and that of fraction.js differs: it
 * accepts `1 1/2` and `0.(3)`, and rejects `1e3`.
 */
import { PyValueError, parseInteger } from './numbers.ts'
import { PY_D, strip } from './text.ts'

const DIGITS_SOURCE = `${PY_D}+(?:_${PY_D}+)*`
const FRACTION_PATTERN = new RegExp(
  `^(?<sign>[+\\-]?)(?=\\.?${PY_D})(?<whole>${DIGITS_SOURCE})?` +
    `(?:/(?<denominator>${DIGITS_SOURCE})|(?:\\.(?<decimal>${DIGITS_SOURCE})?)?(?:[eE](?<exponent>[+\\-]?${DIGITS_SOURCE}))?)$`,
  'v',
)

/** Where Python would need a number with more digits than these: its size alone says what it is as a float. */
const MAX_EXPONENT = 20_000n

/** Not in lowest terms, the denominator > 0. */
export interface Fraction {
  numerator: bigint
  denominator: bigint
}

/**
 * Throws PyValueError where Python raises ValueError or ZeroDivisionError. Exponents are held to ± 20,000, which no
 * float can tell from more: Python would work at `1e999999999` until it has no memory.
 */
export function parseFraction(text: string): Fraction {
  const groups = FRACTION_PATTERN.exec(strip(text))?.groups
  if (groups === undefined) throw new PyValueError('no fraction')
  const { sign, whole = '0', denominator, decimal = '', exponent = '0' } = groups
  const given = { numerator: parseInteger(whole), denominator: denominator ? parseInteger(denominator) : 1n }
  if (given.denominator === 0n) throw new PyValueError('zero denominator')
  const value = scaleByPowerOfTen(appendDecimals(given, decimal), clampExponent(parseInteger(exponent)))
  return sign === '-' ? { ...value, numerator: -value.numerator } : value
}

function appendDecimals({ numerator, denominator }: Fraction, decimal: string): Fraction {
  if (decimal === '') return { numerator, denominator }
  const places = 10n ** BigInt(Array.from(decimal.replaceAll('_', '')).length)
  return { numerator: numerator * places + parseInteger(decimal), denominator: denominator * places }
}

function scaleByPowerOfTen({ numerator, denominator }: Fraction, exponent: bigint): Fraction {
  return exponent < 0n
    ? { numerator, denominator: denominator * 10n ** -exponent }
    : { numerator: numerator * 10n ** exponent, denominator }
}

function clampExponent(exponent: bigint): bigint {
  if (exponent > MAX_EXPONENT) return MAX_EXPONENT
  return exponent < -MAX_EXPONENT ? -MAX_EXPONENT : exponent
}
