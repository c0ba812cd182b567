/** Python's numbers from text and back: `int()`, `float()`, `complex()`, `Fraction()`, `repr()`, `format()` and `round()`. */
import { DIGIT_ZEROS, PY_D, PY_S, strip } from './text.ts'

/** Where Python raises: whatever the answer means, it is no value. */
export class PyError extends Error {}

/** Where Python raises ValueError. */
export class PyValueError extends PyError {}

/** What `attempt` gives, or `otherwise` where Python would raise; any other error is ours and passes. */
export function catchPythonError<T>(attempt: () => T, otherwise: T): T {
  try {
    return attempt()
  } catch (error) {
    if (error instanceof PyError) return otherwise
    throw error
  }
}

/** Python's bound on decimal digits, against work that is quadratic. */
export const MAX_DIGITS = 4300

const ZERO_CODE_POINTS = DIGIT_ZEROS.split(' ').map((code) => Number.parseInt(code, 16))
const DIGIT_VALUES = new Map(
  ZERO_CODE_POINTS.flatMap((zero) => Array.from({ length: 10 }, (_, n) => [zero + n, n] as const)),
)
const NON_PLAIN_ASCII_PATTERN = /[^ -~\t-\r]/u
const SPACE_PATTERN = new RegExp(PY_S, 'v')
const SHORT_INTEGER_PATTERN = /^[+-]?(?:0|[1-9]\d{0,14})$/
const FLOAT_PATTERN = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const SPECIAL_PATTERN = /^([+-]?)(?:(inf|infinity)|nan)$/i
const MISPLACED_UNDERSCORE_PATTERN = /(?:^|\D)_|_(?:\D|$)/
const PREFIX_RADIXES: Readonly<Record<string, number>> = { x: 16, o: 8, b: 2 }

/** Python's `int(text, base)`, base 2, 8, 10, 16 or 0 (as the prefix says); throws PyValueError. */
export function parseInteger(text: string, base: 0 | 2 | 8 | 10 | 16 = 10): bigint {
  if ((base === 10 || base === 0) && SHORT_INTEGER_PATTERN.test(text)) return BigInt(Number(text))
  const ascii = trim(toAscii(text))
  const body = ascii.replace(/^[+-]/, '')
  const marked = body[0] === '0' ? (PREFIX_RADIXES[(body[1] ?? '').toLowerCase()] ?? 10) : 10
  const radix = base === 0 ? marked : base
  const digits = marked !== 10 && marked === radix ? body.slice(body[2] === '_' ? 3 : 2) : body
  const value = parseMagnitude(digits, radix)
  if (base === 0 && marked === 10 && body[0] === '0' && value !== 0n) throw new PyValueError('leading zeros')
  return ascii.startsWith('-') ? -value : value
}

/** Python's `float(text)`; throws PyValueError. */
export function parseFloat64(text: string): number {
  const value = tryParseFloat64(text)
  if (value === undefined) throw new PyValueError('no float')
  return value
}

/** Python's `float(text)`, undefined where it raises: for lists, where a throw for each part would cost too much. */
export function tryParseFloat64(text: string): number | undefined {
  if (FLOAT_PATTERN.test(text)) return Number(text)
  const ascii = trim(toAscii(text))
  if (MISPLACED_UNDERSCORE_PATTERN.test(ascii)) return undefined
  const bare = ascii.replaceAll('_', '')
  if (FLOAT_PATTERN.test(bare)) return Number(bare)
  const [found, sign, infinity] = SPECIAL_PATTERN.exec(bare) ?? []
  if (found === undefined) return undefined
  if (infinity === undefined) return Number.NaN
  return sign === '-' ? -Infinity : Infinity
}

/** Python's `repr(x)` of a float: the shortest digits, an exponent below 1e-4 and from 1e16 on. */
export function floatRepr(x: number): string {
  if (Number.isNaN(x)) return 'nan'
  if (!Number.isFinite(x)) return x > 0 ? 'inf' : '-inf'
  if (x === 0) return Object.is(x, -0) ? '-0.0' : '0.0'
  const [mantissa = '', power = ''] = x.toExponential().split('e')
  const exponent = Number(power)
  if (exponent < -4 || exponent >= 16) {
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
  }
  const sign = x < 0 ? '-' : ''
  const digits = mantissa.replace(/[-.]/g, '')
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0')
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`
}

/** A finite float as an exact fraction, like `float.as_integer_ratio()` but not in lowest terms. */
export function exactRatio(x: number): [numerator: bigint, denominator: bigint] {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, x)
  const bits = view.getBigUint64(0)
  const biased = Number((bits >> 52n) & 0x7ffn)
  const fraction = bits & 0xfffffffffffffn
  const mantissa = (biased === 0 ? fraction : fraction | 0x10000000000000n) * (x < 0 ? -1n : 1n)
  const exponent = Math.max(biased, 1) - 1075
  return exponent >= 0 ? [mantissa << BigInt(exponent), 1n] : [mantissa, 1n << BigInt(-exponent)]
}

/** The quotient of a numerator ≥ 0 and a denominator > 0, rounded, ties to even. */
export function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator
  const twice = (numerator - quotient * denominator) * 2n
  return twice > denominator || (twice === denominator && quotient % 2n === 1n) ? quotient + 1n : quotient
}

/** The nearest float to a fraction, as Python's true division of two ints; the denominator is > 0. */
export function ratioToFloat(numerator: bigint, denominator: bigint): number {
  const n = numerator < 0n ? -numerator : numerator
  if (n === 0n) return 0
  const sign = numerator < 0n ? -1 : 1
  // 55 bits or more of the quotient; what is cut off remains as a sticky last bit, so that one rounding decides.
  const wanted = bitLength(n) - bitLength(denominator) - 66
  const shift = Math.max(wanted, -1140)
  const [a, b] = shift < 0 ? [n << BigInt(-shift), denominator] : [n, denominator << BigInt(shift)]
  const quotient = a / b
  const sticky = (quotient << 1n) | (quotient * b === a ? 0n : 1n)
  const power = shift - 1
  const value = power >= 0 ? Number(sticky << BigInt(Math.min(power, 2000))) : scaleDown(sticky, -power)
  return sign * value
}

/** A value over 2 ** power, rounded once, also where the result is subnormal. */
function scaleDown(value: bigint, power: number): number {
  const excess = Math.max(bitLength(value) - 53, power - 1074, 0)
  const kept = divideHalfEven(value, 1n << BigInt(excess))
  const rest = power - excess
  return Number(kept) * 2 ** -Math.min(rest, 537) * 2 ** -Math.max(rest - 537, 0)
}

export function bitLength(value: bigint): number {
  if (value === 0n) return 0
  const hex = value.toString(16)
  return (hex.length - 1) * 4 + (32 - Math.clz32(Number.parseInt(hex[0] ?? '0', 16)))
}

/** Python's first step for numbers: digits and spaces of any script as ASCII; '?' where something else makes it no number. */
export function toAscii(text: string): string {
  if (!NON_PLAIN_ASCII_PATTERN.test(text)) return text
  let ascii = ''
  for (const ch of text) {
    const value = DIGIT_VALUES.get(ch.codePointAt(0) ?? 0)
    if (value !== undefined) ascii += value
    else if (!NON_PLAIN_ASCII_PATTERN.test(ch)) ascii += ch
    // Within ASCII only the spaces of C count: a control character such as \x1c is none.
    else if (ch > '\x7f' && SPACE_PATTERN.test(ch)) ascii += ' '
    else return '?'
  }
  return ascii
}

function parseMagnitude(digits: string, radix: number): bigint {
  const known = radix === 16 ? /^[0-9a-fA-F_]+$/ : radix === 8 ? /^[0-7_]+$/ : radix === 2 ? /^[01_]+$/ : /^[0-9_]+$/
  if (!known.test(digits) || digits.startsWith('_') || digits.endsWith('_') || digits.includes('__')) {
    throw new PyValueError('no integer')
  }
  const bare = digits.replaceAll('_', '')
  if (radix === 10 && bare.length > MAX_DIGITS) throw new PyValueError('too many digits')
  return BigInt(radix === 10 ? bare : `${{ 2: '0b', 8: '0o', 16: '0x' }[radix]}${bare}`)
}

/** Underscores may stand between digits only; throws PyValueError. */
export function removeUnderscores(text: string): string {
  if (MISPLACED_UNDERSCORE_PATTERN.test(text)) throw new PyValueError('no number')
  return text.replaceAll('_', '')
}

const COMPLEX_PART_SOURCE = '(?:(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:[eE][+-]?\\d+)?|inf(?:inity)?|nan)'
const COMPLEX_PATTERN = new RegExp(
  `^(?:(?<real>[+-]?${COMPLEX_PART_SOURCE})(?:(?<signed>[+-]${COMPLEX_PART_SOURCE}?)j)?|(?<imaginary>[+-]?${COMPLEX_PART_SOURCE}?)j)$`,
  'i',
)

/** Python's `complex(text)`: real and imaginary part; throws PyValueError. */
export function parseComplex(text: string): [real: number, imaginary: number] {
  const bare = removeBrackets(trim(removeUnderscores(toAscii(text))))
  const { real, signed, imaginary } = COMPLEX_PATTERN.exec(bare)?.groups ?? {}
  if (real !== undefined) return [parseFloat64(real), signed === undefined ? 0 : parseCoefficient(signed)]
  if (imaginary !== undefined) return [0, parseCoefficient(imaginary)]
  throw new PyValueError('no complex')
}

function parseCoefficient(text: string): number {
  return text === '' || text === '+' ? 1 : text === '-' ? -1 : parseFloat64(text)
}

function removeBrackets(text: string): string {
  return text.startsWith('(') && text.endsWith(')') ? trim(text.slice(1, -1)) : text
}

/** White space as C has it; `toAscii` has made all other spaces of it. A pattern `\s*$` would try every run of spaces. */
function trim(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && isSpace(text[start])) start++
  while (end > start && isSpace(text[end - 1])) end--
  return text.slice(start, end)
}

function isSpace(ch: string | undefined): boolean {
  return ch === ' ' || (ch !== undefined && ch >= '\t' && ch <= '\r')
}

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
 * Python's `Fraction(text)`, as an exact numerator and denominator. Only the syntax takes work, and that of fraction.js differs:
 * it accepts `1 1/2` and `0.(3)`, and rejects `1e3`. Throws PyValueError where Python raises ValueError or ZeroDivisionError. Exponents are held to ± 20,000, which no
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

/** Python's `f"{x:.10g}"` and its like, the general format of a finite float: `precision` significant digits of its exact value, ties to even, no trailing zeros. */
export function formatGeneral(x: number, precision: number): string {
  const sign = x < 0 || Object.is(x, -0) ? '-' : ''
  if (x === 0) return `${sign}0`
  let exponent = Number(x.toExponential().split('e')[1])
  let digits = String(scaleToInteger(Math.abs(x), precision - 1 - exponent))
  if (digits.length > precision) exponent++
  digits = digits.slice(0, precision).replace(/(?<!0)0+$/, '')
  if (exponent < -4 || exponent >= precision) {
    const power = `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
    return `${sign}${insertPoint(digits, 1)}e${power}`
  }
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
  return `${sign}${insertPoint(digits.padEnd(exponent + 1, '0'), exponent + 1)}`
}

/** x · 10 ** power, rounded half-even. */
function scaleToInteger(x: number, power: number): bigint {
  const [numerator, denominator] = exactRatio(x)
  return power >= 0
    ? divideHalfEven(numerator * 10n ** BigInt(power), denominator)
    : divideHalfEven(numerator, denominator * 10n ** BigInt(-power))
}

function insertPoint(digits: string, whole: number): string {
  return digits.length > whole ? `${digits.slice(0, whole)}.${digits.slice(whole)}` : digits
}
