/** One entry of a list, of whatever shape JSON allows, and the bytes that it is written with. Places are handed on and not kept: what is kept is memory, and slow. */
import { digitsAhead, eightDigits, firstDigits, full, tenTo, ZEROS } from './digits'
import { nearest } from './nearest'
import { LEAST_POWER, MOST_POWER } from './places'

export const SPACE: u32 = 0x20
export const COMMA: u32 = 0x2c
export const MINUS: u32 = 0x2d
const PLUS: u32 = 0x2b
export const POINT: u32 = 0x2e
export const ZERO: u32 = 0x30
const SMALL_E: u32 = 0x65
/** What a small letter has more than a capital one. */
const CASE: u32 = 0x20
/** `null` as four bytes. */
const NULL: u32 = 0x6c6c756e

/** The place where no entry, or no digits, can be read. */
export const REFUSED: usize = 0

export const NEGATIVE: u64 = 0x8000000000000000
const NAN: u64 = 0x7ff8000000000000
/** An exponent is counted up to here: then it is out of all bounds. */
const FAR: i32 = 100_000

/** The digits of the number that is being read, those before the point and behind it. */
let allDigits: u64 = 0

/** Reads the entry from there to its comma, and puts its double at `out`; gives the place behind the comma. */
export function readEntry(from: usize, out: usize): usize {
  let at = behindBlanks(from)
  if (load<u32>(at) === NULL) return endEntry(at + 4, NAN, out)
  let sign: u64 = 0
  if (load<u8>(at) === MINUS) {
    sign = NEGATIVE
    at++
  }
  allDigits = 0
  const whole = at
  at = behindDigits(at)
  if (at === REFUSED || (load<u8>(whole) === ZERO && at - whole > 1)) return REFUSED
  if (load<u8>(at) !== POINT) return readRest(at, sign, allDigits, 0, out)
  const fraction = at + 1
  at = behindDigits(fraction)
  return at === REFUSED ? REFUSED : readRest(at, sign, allDigits, <i32>(fraction - at), out)
}

/** Reads on behind the digits, which the power of ten is for so far: an exponent, blanks, the comma. */
export function readRest(from: usize, sign: u64, digits: u64, digitsPower: i32, out: usize): usize {
  let at = from
  let power = digitsPower
  if ((load<u8>(at) | CASE) === SMALL_E) {
    const below = load<u8>(++at) === MINUS
    if (below || load<u8>(at) === PLUS) at++
    const first = at
    let exponent: i32 = 0
    for (let digit: u32 = load<u8>(at) - ZERO; digit <= 9; digit = load<u8>(at) - ZERO) {
      exponent = min(exponent * 10 + digit, FAR)
      at++
    }
    if (at === first) return REFUSED
    power += below ? -exponent : exponent
  }
  if (power === 0 || digits === 0) return endEntry(at, reinterpret<u64>(<f64>digits) | sign, out)
  if (power < LEAST_POWER || power > MOST_POWER) return REFUSED
  return endEntry(at, nearest(digits, power) | sign, out)
}

function endEntry(from: usize, bits: u64, out: usize): usize {
  store<u64>(out, bits)
  const at = behindBlanks(from)
  return load<u8>(at) === COMMA ? at + 1 : REFUSED
}

/** Appends digits to those before; REFUSED where there are none, or more than 64 bits hold. */
function behindDigits(from: usize): usize {
  let at = from
  let sum = allDigits
  let word = load<u64>(at) ^ ZEROS
  let count = digitsAhead(word)
  while (count === 8) {
    if (full(sum, 8)) return REFUSED
    sum = sum * tenTo(8) + eightDigits(word)
    at += 8 // not the count, which has to be waited for
    word = load<u64>(at) ^ ZEROS
    count = digitsAhead(word)
  }
  if (full(sum, count)) return REFUSED
  allDigits = sum * tenTo(count) + firstDigits(word, count)
  at += count
  return at === from ? REFUSED : at
}

function behindBlanks(from: usize): usize {
  let at = from
  while (isBlank(load<u8>(at))) at++
  return at
}

function isBlank(sign: u32): bool {
  return sign === SPACE || sign === 0x0a || sign === 0x0d || sign === 0x09
}
