import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatFloat32List, formatFloat64List } from '../src/number-text.ts'

const read = (values: Float32Array) => JSON.parse(formatFloat32List(values)) as (number | null)[]
/** JSON knows no -0, and nothing that is not finite. */
const asJson = (x: number) => (Number.isFinite(x) ? x + 0 : null)

describe('a list of float32', () => {
  it('is read as the numbers that it was written from', () => {
    fc.assert(
      fc.property(fc.float32Array({ maxLength: 50 }), (values) => {
        expect(read(values)).toEqual(Array.from(values, asJson))
      }),
      { numRuns: 2000 },
    )
  })

  it('is, too, where its digits are written by hand: at and around every power of ten and of two', () => {
    const edges: number[] = []
    for (let k = -7; k <= 2; k++) for (const times of [1, 2, 5, 9.999999, 9.9999999]) edges.push(times * 10 ** k)
    for (let k = -22; k <= 4; k++) edges.push(2 ** k)
    const bits = new Uint32Array(Float32Array.from(edges).buffer)
    const around = Array.from(bits).flatMap((one) => Array.from({ length: 401 }, (_, k) => one - 200 + k))
    const values = new Float32Array(Uint32Array.from(around).buffer)
    expect(read(values)).toEqual(Array.from(values, asJson))
    expect(read(values.map((x) => -x))).toEqual(Array.from(values, (x) => asJson(-x)))
  })

  it('is, too, for sizes of log-probabilities', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: -7, max: 1, noNaN: true }), { maxLength: 200 }), (exponents) => {
        const values = Float32Array.from(exponents, (exponent) => -(10 ** exponent))
        expect(read(values)).toEqual(Array.from(values, asJson))
      }),
      { numRuns: 500 },
    )
  })

  it('has no digits to spare', () => {
    expect(formatFloat32List(Float32Array.of(1, -0.5, 0, 2.25, -100, 0.001953125))).toBe(
      '[1,-0.5,0,2.25,-100,0.001953125]',
    )
    expect(formatFloat32List(new Float32Array())).toBe('[]')
    expect(formatFloat32List(Float32Array.of(Number.NaN, Number.POSITIVE_INFINITY))).toBe('[null,null]')
  })

  it('is the same for who reads whole numbers as integers of any size, as Python does', () => {
    const asPython = (list: string) =>
      list
        .slice(1, -1)
        .split(',')
        .map((text) => (/^-?\d+$/.test(text) ? BigInt(text) : BigInt(Number(text))))
    const whole = [2 ** 53 - 1, 2 ** 53, -(2 ** 60), 1.1314356042910925e17, 123456789012345680000, 3e38]
    const singles = Float32Array.from(whole)
    expect(asPython(formatFloat32List(singles))).toEqual(Array.from(singles, BigInt))
    expect(asPython(formatFloat64List(whole))).toEqual(whole.map(BigInt))
  })

  it('of doubles is read as they are', () => {
    const values = [0.1, -2.5, 5e-324, 1e21, -1.7976931348623157e308]
    for (const doubles of [values, values.slice(0, 3)]) {
      expect(JSON.parse(formatFloat64List([...doubles, Number.NaN, 0]))).toEqual([...doubles, null, 0])
    }
  })
})
