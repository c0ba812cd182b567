/** Decimals as rounded exact values, for questions that say how many digits an answer has. */
import type { Fraction } from '../python/numbers.ts'

/** No answer needs more characters, and exact arithmetic on longer ones takes its time. */
const MAX_LENGTH = 100
const DECIMAL_PATTERN = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i

export interface WrittenDecimal {
  value: Fraction
  /** The power of ten of the last digit that is written. */
  lastPlace: number
}

/** Undefined for what is no plain decimal. */
export function readDecimal(text: string): WrittenDecimal | undefined {
  const [, sign, whole = '', places = '', power = '0'] = (text.length <= MAX_LENGTH && DECIMAL_PATTERN.exec(text)) || []
  if (whole + places === '') return undefined
  const lastPlace = Number(power) - places.length
  const coefficient = BigInt(sign === '-' ? -1 : 1) * BigInt(whole + places)
  return { value: multiply({ numerator: coefficient, denominator: 1n }, powerOfTen(lastPlace)), lastPlace }
}

/** Whether the decimal is the exact value, rounded to the last digit that is written. The half goes up or down. */
export function isRounded({ value, lastPlace }: WrittenDecimal, exact: Fraction): boolean {
  const { numerator, denominator } = powerOfTen(lastPlace)
  return isWithin(value, exact, { numerator, denominator: 2n * denominator })
}

/** Whether the decimal is the exact value, rounded to so many significant digits; zeros at the end may be left out. */
export function isRoundedTo(digits: number, { value }: WrittenDecimal, exact: Fraction): boolean {
  const lastPlace = getMagnitude(exact) - digits + 1
  return isMultipleOfPlace(value, lastPlace) && isRounded({ value, lastPlace }, exact)
}

/** The value rounded to so many significant digits, up from the half. */
export function roundTo(digits: number, exact: Fraction): Fraction {
  return roundToPlace(getMagnitude(exact) - digits + 1, exact)
}

/** The value rounded to the digit of that power of ten, up from the half. */
export function roundToPlace(lastPlace: number, exact: Fraction): Fraction {
  const place = powerOfTen(lastPlace)
  const { numerator, denominator } = divide(exact, place)
  const rounded = (2n * absolute(numerator) + denominator) / (2n * denominator)
  return multiply({ numerator: numerator < 0n ? -rounded : rounded, denominator: 1n }, place)
}

/** Whether nothing but zeros follows the digit of that power of ten. */
export function isMultipleOfPlace(value: Fraction, lastPlace: number): boolean {
  const { numerator, denominator } = multiply(value, powerOfTen(-lastPlace))
  return numerator % denominator === 0n
}

export function equals(a: Fraction, b: Fraction): boolean {
  return subtract(a, b).numerator === 0n
}

/** Whether two values are at most so far apart. */
export function isWithin(a: Fraction, b: Fraction, distance: Fraction): boolean {
  const { numerator, denominator } = subtract(a, b)
  return absolute(numerator) * distance.denominator <= distance.numerator * denominator
}

export function add(a: Fraction, b: Fraction): Fraction {
  const numerator = a.numerator * b.denominator + b.numerator * a.denominator
  return { numerator, denominator: a.denominator * b.denominator }
}

export function subtract(a: Fraction, b: Fraction): Fraction {
  return add(a, { ...b, numerator: -b.numerator })
}

export function multiply(a: Fraction, b: Fraction): Fraction {
  return { numerator: a.numerator * b.numerator, denominator: a.denominator * b.denominator }
}

/** Of two values, the second of which is not 0. */
export function divide(a: Fraction, b: Fraction): Fraction {
  const sign = b.numerator < 0n ? -1n : 1n
  return multiply(a, { numerator: sign * b.denominator, denominator: sign * b.numerator })
}

export function powerOfTen(exponent: number): Fraction {
  const power = 10n ** BigInt(Math.abs(exponent))
  return exponent < 0 ? { numerator: 1n, denominator: power } : { numerator: power, denominator: 1n }
}

/** The power of ten of the first digit; 0 for zero. */
export function getMagnitude({ numerator, denominator }: Fraction): number {
  if (numerator === 0n) return 0
  const guess = String(absolute(numerator)).length - String(denominator).length
  const { numerator: top, denominator: bottom } = powerOfTen(guess)
  return absolute(numerator) * bottom >= denominator * top ? guess : guess - 1
}

function absolute(x: bigint): bigint {
  return x < 0n ? -x : x
}
