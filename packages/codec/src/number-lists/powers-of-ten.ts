/** Powers of ten as the reader multiplies by them: the upper 128 bits of each, its highest bit set (Lemire 2021, arXiv 2101.11408). */

const SIGNIFICAND_BITS = 128

/** The lower 64 bits of the least power, its upper 64, those of the next power… Below 1 they are rounded up, above cut off. */
export function powersOfTen(least: number, most: number): BigUint64Array {
  const powers = Array.from({ length: most - least + 1 }, (_, k) => getUpperBits(least + k))
  return BigUint64Array.from(powers.flatMap((bits) => [BigInt.asUintN(64, bits), bits >> 64n]))
}

function getUpperBits(power: number): bigint {
  const five = 5n ** BigInt(Math.abs(power)) // powers of two only move the point
  const length = five.toString(2).length
  if (power < 0) return (1n << BigInt(length + SIGNIFICAND_BITS - 1)) / five + 1n
  return length > SIGNIFICAND_BITS
    ? five >> BigInt(length - SIGNIFICAND_BITS)
    : five << BigInt(SIGNIFICAND_BITS - length)
}
