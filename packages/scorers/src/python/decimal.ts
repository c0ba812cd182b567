/**
 * Python's `Decimal`: parsed exactly, compared exactly, subtracted in a context of a given precision. decimal.js has no
 * digits of other scripts, no signaling NaNs and no exponents of 18 digits.
 */
import { divideHalfEven, PyError, toAscii } from './numbers.ts'
import { strip } from './text.ts'

/** Where Python raises one of `decimal`'s trapped signals. */
export class InvalidOperation extends PyError {}

/** Digits of the default context. */
const DEFAULT_PRECISION = 28
// What the C module can hold at all, and what the default context can.
const MAX_ADJUSTED = 999_999_999_999_999_999n
const MIN_EXPONENT = -1_999_999_999_999_999_997n
const CONTEXT_MAX_ADJUSTED = 999_999n
const CONTEXT_MIN_ADJUSTED = -999_999n

const DECIMAL_PATTERN = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d+))?$/
const SPECIAL_PATTERN = /^([+-]?)(?:(inf|infinity)|(s?)nan\d*)$/i

/**
 * sign · coefficient · 10 ** exponent. The coefficient is kept as digits without leading zeros ('' for zero) and the
 * exponent as a bigint, so that `1e999999999` costs what its text costs.
 */
export class Decimal {
  readonly kind: 'finite' | 'infinite' | 'nan' | 'snan'
  readonly sign: 1 | -1
  readonly digits: string
  readonly exponent: bigint

  private constructor(kind: Decimal['kind'], sign: 1 | -1, digits = '', exponent = 0n) {
    this.kind = kind
    this.sign = sign
    this.digits = digits
    this.exponent = exponent
  }

  /** Python's `Decimal(text)`: outer white space and all underscores are left out; throws InvalidOperation. */
  static parse(text: string): Decimal {
    const read = Decimal.tryParse(text)
    if (!read) throw new InvalidOperation('no decimal')
    return read
  }

  /** The same; undefined for what is no decimal, which takes a tenth of the time that throwing takes. */
  static tryParse(text: string): Decimal | undefined {
    const ascii = toAscii(strip(text)).replaceAll('_', '')
    const found = DECIMAL_PATTERN.exec(ascii)
    if (found === null) return Decimal.tryParseSpecial(ascii)
    const [, sign, whole = '', fraction = found[4] ?? '', , power = '0'] = found
    if (power.replace(/^[+-]?0*/, '').length > 19) return undefined
    const exponent = BigInt(power) - BigInt(fraction.length)
    return Decimal.createFinite(sign === '-' ? -1 : 1, whole + fraction, exponent).checkRange(
      MAX_ADJUSTED,
      MIN_EXPONENT,
    )
  }

  /** 10 ** power; throws InvalidOperation where the C module has no room for it. */
  static powerOfTen(power: number): Decimal {
    return Decimal.createFinite(1, '1', BigInt(power)).checkRange(MAX_ADJUSTED, MIN_EXPONENT)
  }

  private static tryParseSpecial(text: string): Decimal | undefined {
    const [found, sign, infinity, signalling] = SPECIAL_PATTERN.exec(text) ?? []
    if (found === undefined) return undefined
    const kind = infinity !== undefined ? 'infinite' : signalling ? 'snan' : 'nan'
    return new Decimal(kind, sign === '-' ? -1 : 1)
  }

  private static createFinite(sign: 1 | -1, digits: string, exponent: bigint): Decimal {
    return new Decimal('finite', sign, digits.replace(/^0+/, ''), exponent)
  }

  isZero(): boolean {
    return this.kind === 'finite' && this.digits === ''
  }

  isNaN(): boolean {
    return this.kind === 'nan' || this.kind === 'snan'
  }

  /** The exponent of the first digit; 0 for what is not finite. */
  adjusted(): bigint {
    return this.kind === 'finite' ? this.exponent + BigInt(Math.max(this.digits.length, 1)) - 1n : 0n
  }

  abs(): Decimal {
    return new Decimal(this.kind, 1, this.digits, this.exponent)
  }

  negate(): Decimal {
    return new Decimal(this.kind, this.sign === 1 ? -1 : 1, this.digits, this.exponent)
  }

  /** Python's `==`: a quiet NaN equals nothing, a signalling one throws InvalidOperation. */
  equals(other: Decimal): boolean {
    if (this.kind === 'snan' || other.kind === 'snan') throw new InvalidOperation('sNaN')
    return !this.isNaN() && !other.isNaN() && this.compare(other) === 0
  }

  /** The order of two exact values, for `<` and its like; throws InvalidOperation on any NaN. */
  compare(other: Decimal): -1 | 0 | 1 {
    if (this.isNaN() || other.isNaN()) throw new InvalidOperation('NaN')
    const a = this.isZero() ? 0 : this.sign
    const b = other.isZero() ? 0 : other.sign
    if (a !== b) return a < b ? -1 : 1
    if (a === 0) return 0
    const order = this.compareMagnitude(other)
    return order === 0 ? 0 : order === a ? 1 : -1
  }

  /** `this - other`, rounded half-even to the precision of the context; throws InvalidOperation on sNaN, inf - inf and overflow. */
  subtract(other: Decimal, precision: number = DEFAULT_PRECISION): Decimal {
    if (this.kind === 'snan' || other.kind === 'snan') throw new InvalidOperation('sNaN')
    if (this.isNaN()) return this
    if (other.isNaN()) return other
    if (this.kind === 'infinite' && other.kind === 'infinite' && this.sign === other.sign) {
      throw new InvalidOperation('inf - inf')
    }
    if (this.kind === 'infinite') return this
    if (other.kind === 'infinite') return other.negate()
    return this.subtractFinite(other, precision).applyContext(precision)
  }

  /** At most `precision` digits, ties to even. */
  round(precision: number): Decimal {
    const excess = this.digits.length - precision
    if (this.kind !== 'finite' || excess <= 0) return this
    const kept = this.digits.slice(0, precision)
    const rest = this.digits.slice(precision)
    // A tie is a 5 with nothing behind it: three digits say all that rounding asks of the rest.
    const sticky = rest[0] + (/^.0*$/.test(rest) ? '0' : '1')
    const rounded = divideHalfEven(BigInt(kept + sticky), 100n)
    return Decimal.createFinite(this.sign, String(rounded), this.exponent + BigInt(excess))
  }

  private subtractFinite(other: Decimal, precision: number): Decimal {
    if (other.isZero()) return this.round(precision)
    if (this.isZero()) return other.negate().round(precision)
    const swap = this.exponent < other.exponent
    const high = swap ? other : this
    const low = (swap ? this : other).clampBelow(high, precision)
    const shifted = high.digits + '0'.repeat(Number(high.exponent - low.exponent))
    const [given, taken] = swap ? [low.digits, shifted] : [shifted, low.digits]
    const size = Math.max(given.length, taken.length)
    const [a, b] = [given.padStart(size, '0'), taken.padStart(size, '0')]
    const [first, second, sign] = a < b ? [b, a, other.negate().sign] : [a, b, this.sign]
    const digits = addDigits(first, second, this.sign === other.sign ? -1 : 1)
    return Decimal.createFinite(sign, digits, low.exponent).round(precision)
  }

  /** Stands in for a value too small to show in the digits of a sum with `high` but for its sign. */
  private clampBelow(high: Decimal, precision: number): Decimal {
    const gap = BigInt(Math.min(-1, high.digits.length - precision - 2))
    const floor = high.exponent + gap
    return this.adjusted() < floor ? Decimal.createFinite(this.sign, '1', floor) : this
  }

  private compareMagnitude(other: Decimal): -1 | 0 | 1 {
    if (this.kind !== other.kind) return this.kind === 'infinite' ? 1 : -1
    if (this.kind === 'infinite') return 0
    const [p, q] = [this.adjusted(), other.adjusted()]
    if (p !== q) return p < q ? -1 : 1
    const size = Math.max(this.digits.length, other.digits.length)
    const [a, b] = [this.digits.padEnd(size, '0'), other.digits.padEnd(size, '0')]
    return a === b ? 0 : a < b ? -1 : 1
  }

  private checkRange(maxAdjusted: bigint, minExponent: bigint): Decimal {
    // A zero is clamped to the largest exponent instead of rejected, unless its digits alone exceed it.
    if (this.adjusted() > maxAdjusted || this.exponent < minExponent) throw new InvalidOperation('exponent')
    return this
  }

  /** The context traps overflow; below its range values fade into zero untrapped. */
  private applyContext(precision: number): Decimal {
    if (this.kind !== 'finite' || this.isZero()) return this
    if (this.adjusted() > CONTEXT_MAX_ADJUSTED) throw new InvalidOperation('overflow')
    const lowest = CONTEXT_MIN_ADJUSTED - BigInt(precision) + 1n
    if (this.exponent >= lowest) return this
    const kept = this.adjusted() - lowest + 1n
    return kept > 0n ? this.round(Number(kept)) : Decimal.createFinite(this.sign, '', lowest)
  }
}

/** The digits of a + b or a - b, for two of one length and a ≥ b; a bigint would take longer to print than this to add. */
function addDigits(a: string, b: string, step: 1 | -1): string {
  const digits = Buffer.alloc(a.length + 1)
  let carry = 0
  for (let i = a.length - 1; i >= 0; i--) {
    const digit = a.charCodeAt(i) - 48 + step * (b.charCodeAt(i) - 48) + carry
    carry = digit < 0 ? -1 : digit > 9 ? 1 : 0
    digits[i + 1] = digit - 10 * carry + 48
  }
  digits[0] = carry + 48
  return digits.toString('latin1')
}
