/** Decimals as they come up in lists, and as they are hardest to read. */
import fc from 'fast-check'

/** As Python spells a number: two digits at least in an exponent, which begins below 0.0001, and a point in every float. */
export function pythonText(x: number): string {
  const size = Math.abs(x)
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) return x.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
  const text = Object.is(x, -0) ? '-0' : String(x)
  return text.includes('.') ? text : `${text}.0`
}

/** Log-probabilities of float32, from -1e-7 to -30. */
export const logProbability = fc
  .double({ min: -7, max: 1.5, noNaN: true })
  .map((exponent) => Math.fround(-(10 ** exponent)))

const digits = (least: number, most: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: least, maxLength: most })

/** A whole number, a point and an exponent, each of which may be absent. */
export const decimal = fc
  .record({
    sign: fc.constantFrom('', '-'),
    whole: fc.oneof(fc.constant('0'), digits(1, 19).map(withoutZeros)),
    fraction: fc.option(digits(1, 22), { nil: '' }),
    exponent: fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e-', 'e+', 'E-'), digits(1, 3)), { nil: ['', ''] }),
  })
  .map(({ sign, whole, fraction, exponent }) => `${sign}${whole}${fraction && '.'}${fraction}${exponent.join('')}`)

/** From 4 to 8 with 18 places, the next below halfway between two doubles or above it: too near for half of a product to tell. */
export const nearHalfway = fc
  .tuple(fc.bigInt({ min: 2n ** 52n, max: 2n ** 53n - 1n }), fc.bigInt({ min: 0n, max: 1n }))
  .map(([mantissa, above]) => {
    const places = String((((2n * mantissa + 1n) * 10n ** 18n) >> 51n) + above)
    return `${places[0]}.${places.slice(1)}`
  })

/** 15 to 19 digits, from 10^-45 to 10^45. */
export const longDecimal = fc
  .tuple(digits(15, 19).map(withoutZeros), fc.integer({ min: -45, max: 45 }))
  .map(([mantissa, power]) => `${mantissa}e${power}`)

/** Halfway between two doubles, to the digit, and beside it: odd numbers of 54 bits, times powers of two that decimals reach. */
export const halfway = fc
  .tuple(
    fc.bigInt({ min: 2n ** 52n, max: 2n ** 53n - 1n }),
    fc.integer({ min: -4, max: 23 }),
    fc.integer({ min: -1, max: 1 }),
  )
  .map(([mantissa, power, beside]) => {
    const odd = 2n * mantissa + 1n
    if (power <= 0) return `${odd * 5n ** BigInt(-power) + BigInt(beside)}e${power}`
    const five = 5n ** BigInt(power) // the least odd multiple over 2^53, of 53 bits and a half
    const times = (odd / five) | 1n
    return `${times * 2n ** BigInt(Math.min(power, 9)) + BigInt(beside)}e${power}`
  })

function withoutZeros(text: string): string {
  return text.replace(/^0+(?=.)/, '')
}
