/**
 * Reads the inside of a JSON list of numbers into doubles. AssemblyScript, for its words of 64 bits, compiled to ../read.wasm by
 * `npm run build:wasm`. Here are the shapes that nearly all entries have, without a branch on how many digits; entry.ts has all.
 */
import { allDigits, digitsAhead, eightDigits, firstDigits, full, tenTo, ZEROS } from './digits'
import { COMMA, MINUS, NEGATIVE, POINT, REFUSED, readEntry, readRest, SPACE, ZERO } from './entry'
import { nearestBelowTies } from './nearest'
import { NUMBERS, TEXT } from './places'

export { LEAST_POWER, MOST_BYTES, MOST_POWER, NUMBERS, POWERS, TEXT } from './places'

/** Reads so many bytes at TEXT; gives how many doubles are at NUMBERS, a NaN for each null; -1 for what it does not take. */
export function read(bytes: i32): i32 {
  const end = TEXT + bytes
  store<u8>(end, COMMA) // so that every entry has one behind it
  let at = TEXT
  let out = NUMBERS
  for (; at <= end; out += 8) {
    const start = at
    let head = load<u8>(at)
    if (head === SPACE) head = load<u8>(++at) // a branch, which is foreseen: a place that is computed has to be waited for
    let sign: u64 = 0
    if (head === MINUS) {
      sign = NEGATIVE
      at++
    }
    const word = load<u64>(at) ^ ZEROS
    if ((word & 0xff00) === (POINT ^ ZERO) << 8) {
      const second = load<u64>(at, 2) ^ ZEROS
      if (allDigits(second)) at = readLong(start, at, word & 0xff, second, sign, out)
      else at = readShort(start, at, word & 0xff, second, sign, out)
    } else at = readInteger(start, at, word, sign, out)
    if (at === REFUSED) return -1
  }
  return <i32>(out - NUMBERS) >> 3
}

/** One to eight digits. */
function readInteger(start: usize, at: usize, word: u64, sign: u64, out: usize): usize {
  const count = <usize>ctz(word & 0xf0f0f0f0f0f0f0f0) >> 3
  const digits = word << -((<u64>count) << 3)
  const others = (digits + 0x0606060606060606) & 0xf0f0f0f0f0f0f0f0
  const padded = (word & 0xff) === 0 && count !== 1
  if (count === 0 || others !== 0 || padded || load<u8>(at + count) !== COMMA) return readEntry(start, out)
  store<u64>(out, reinterpret<u64>(<f64>(<i64>eightDigits(digits))) | sign)
  return at + count + 1
}

/** A digit, the point, and up to seven more: `second` are the eight bytes behind the point. */
function readShort(start: usize, at: usize, first: u64, second: u64, sign: u64, out: usize): usize {
  const count = digitsAhead(second)
  if (first > 9 || count === 0) return readEntry(start, out)
  const digits = first * tenTo(count) + firstDigits(second, count)
  const behind = at + count + 2
  if (load<u8>(behind) !== COMMA) return readRest(behind, sign, digits, -(<i32>count), out)
  // The quotient of two doubles that are exact is the nearest (Clinger 1990).
  store<u64>(out, reinterpret<u64>(<f64>(<i64>digits) / <f64>(<i64>tenTo(count))) | sign)
  return behind + 1
}

/** A digit, the point, and 16 up to 23 more, as most programs write a float32 or a double. */
function readLong(start: usize, at: usize, first: u64, second: u64, sign: u64, out: usize): usize {
  const third = load<u64>(at, 10) ^ ZEROS
  const last = load<u64>(at, 18) ^ ZEROS
  const count = digitsAhead(last)
  const upper = first * 10_000_000_000_000_000 + eightDigits(second) * 100_000_000 + eightDigits(third)
  if (first > 9 || !allDigits(third) || count === 8 || full(upper, count)) return readEntry(start, out)
  const digits = upper * tenTo(count) + firstDigits(last, count)
  const power = -16 - <i32>count
  const behind = at + count + 18
  const bits = digits === 0 ? 0 : nearestBelowTies(digits, power)
  if (bits === 0 || load<u8>(behind) !== COMMA) return readRest(behind, sign, digits, power, out)
  store<u64>(out, bits | sign)
  return behind + 1
}
