/** Decimal digits, eight at a time in a word of 64 bits, the first in its lowest byte; here each is less ZERO. */

/** `00000000`: taken from eight bytes by an exclusive or. */
export const ZEROS: u64 = 0x3030303030303030

/** What so many digits more make of those before, for 0 up to 8: their power of ten, and the least that is too much for 64 bits. */
// biome-ignore format: a pair a line
const STEPS = memory.data<u64>([
  1, 0xffffffffffffffff,
  10, 1844674407370955161,
  100, 184467440737095516,
  1_000, 18446744073709551,
  10_000, 1844674407370955,
  100_000, 184467440737095,
  1_000_000, 18446744073709,
  10_000_000, 1844674407370,
  100_000_000, 184467440737,
])

/** How many digits come first in a word. */
export function digitsAhead(word: u64): usize {
  return <usize>ctz(others(word)) >> 3
}

export function allDigits(word: u64): bool {
  return others(word) === 0
}

/** The highest bit of each byte that is no digit. Above the first of them a carry may set more. */
function others(word: u64): u64 {
  return ((word + 0x7676767676767676) | word) & 0x8080808080808080
}

/** The number that eight digits write: from digits to pairs, to fours, to all. */
export function eightDigits(word: u64): u64 {
  const pairs = (word * 2561) >> 8
  const fours = ((pairs & 0x00ff00ff00ff00ff) * 6553601) >> 16
  return ((fours & 0x0000ffff0000ffff) * 42949672960001) >> 32
}

/** The number that the first so many digits of a word write, 0 up to 8. */
export function firstDigits(word: u64, count: usize): u64 {
  const half = 32 - ((<u64>count) << 2) // twice, since a shift by 64 is none
  return eightDigits((word << half) << half)
}

export function tenTo(count: usize): u64 {
  return load<u64>(STEPS + (count << 4))
}

/** Whether digits are too many for so many more to fit behind them. */
export function full(digits: u64, count: usize): bool {
  return digits >= load<u64>(STEPS + (count << 4), 8)
}
