/**
 * The double nearest to a decimal: the algorithm of Eisel and Lemire (Lemire 2021, "Number parsing at a gigabyte per second",
 * arXiv 2101.11408), which needs no other to fall back on (Mushtak and Lemire 2022, arXiv 2212.06644).
 */
import { LEAST_POWER, POWERS } from './places'

/** Where a decimal can lie halfway between two doubles: elsewhere five to that power has too many bits. */
const LEAST_TIE: i32 = -4
const MOST_TIE: i32 = 23

/** The product has 64 bits: 53 for the double, one to round by, one that may be zero, and these. */
const BELOW: u64 = 0x1ff

/** Bits of digits × 10^power without its sign: digits over 0, power from LEAST_POWER up to MOST_POWER. */
export function nearest(digits: u64, power: i32): u64 {
  const zeros = clz(digits)
  const factor = digits << zeros
  const ten = POWERS + ((power - LEAST_POWER) << 4)
  const tenUpper = load<u64>(ten, 8)
  let upper = upperHalf(factor, tenUpper)
  let lower = factor * tenUpper
  if ((upper & BELOW) === BELOW) {
    const more = upperHalf(factor, load<u64>(ten))
    lower += more
    if (lower < more) upper++
  }
  const shift = (upper >> 63) + 9
  const halves = upper >> shift
  const tie = lower <= 1 && power >= LEAST_TIE && power <= MOST_TIE && (halves & 3) === 1 && halves << shift === upper
  return rounded(tie ? halves - 1 : halves, shift, power, zeros)
}

/**
 * The same for powers below every tie, by three products instead of five. What they leave out makes the upper half two less at
 * most, so that they cannot tell one decimal in 256: then 0.
 */
export function nearestBelowTies(digits: u64, power: i32): u64 {
  const zeros = clz(digits)
  const factor = digits << zeros
  const ten = POWERS + ((power - LEAST_POWER) << 4)
  const low = factor & 0xffffffff
  const high = factor >> 32
  const tenLow: u64 = load<u32>(ten, 8)
  const tenHigh: u64 = load<u32>(ten, 12)
  const middle = high * tenLow
  const upper = high * tenHigh + (middle >> 32) + ((low * tenHigh + (middle & 0xffffffff)) >> 32)
  if ((upper & BELOW) >= BELOW - 1) return 0
  const shift = (upper >> 63) + 9
  return rounded(upper >> shift, shift, power, zeros)
}

/** A double out of its mantissa in halves. The mantissa's highest bit, and what rounding may carry into, add to the exponent. */
function rounded(halves: u64, shift: u64, power: i32, zeros: u64): u64 {
  const exponent = <u64>((power * 217706) >> 16) + (1023 + 63 - 9 - 1) + shift - zeros
  return (exponent << 52) + ((halves + (halves & 1)) >> 1)
}

/** The upper 64 bits of a product. */
function upperHalf(a: u64, b: u64): u64 {
  const aLow = a & 0xffffffff
  const aHigh = a >> 32
  const bLow = b & 0xffffffff
  const bHigh = b >> 32
  const middle = aHigh * bLow + ((aLow * bLow) >> 32)
  return aHigh * bHigh + (middle >> 32) + ((aLow * bHigh + (middle & 0xffffffff)) >> 32)
}
