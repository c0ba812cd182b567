import { expect, it } from 'vitest'
import { assessGrowth, type Sample } from '../../../verification/soak/growth.ts'

const ALLOWANCE = { flat: 16, hourly: 32 }
const HOUR_S = 3600

/** An hour of samples every two seconds. */
function sample(value: (at: number) => number): Sample[] {
  return Array.from({ length: HOUR_S / 2 }, (_, k) => ({ at: 2 * k, value: value(2 * k) }))
}
/** Garbage that is collected once a minute, differently each time. */
const garbage = (at: number) => (at % 60) * (1 + (Math.floor(at / 60) % 3))

it('memory that rises at first and then stays, with garbage on top, does not grow', () => {
  const samples = sample((at) => 150 + 100 * (1 - Math.exp(-at / 300)) + garbage(at))
  expect(assessGrowth(samples, ALLOWANCE)).toMatchObject({ allowed: expect.closeTo(32, 0), fails: false })
})

it('a leak of 100 MB an hour under the same garbage is growth', () => {
  const samples = sample((at) => 150 + (100 * at) / HOUR_S + garbage(at))
  const { grownBy, fails } = assessGrowth(samples, ALLOWANCE)
  expect(grownBy).toBeGreaterThan(45)
  expect(grownBy).toBeLessThan(55)
  expect(fails).toBe(true)
})

it('one peak is no growth, not even at the end', () => {
  expect(
    assessGrowth(
      sample((at) => (at > 3500 ? 900 : 200)),
      ALLOWANCE,
    ).fails,
  ).toBe(false)
})

it('keys that are added one by one and never removed are growth, in a short soak as well', () => {
  const samples = Array.from({ length: 30 }, (_, k) => ({ at: 10 * k, value: 40 + 5 * k }))
  expect(assessGrowth(samples, { flat: 25, hourly: 25 }).fails).toBe(true)
})

it('nothing measured, or measured once, is no growth', () => {
  expect(assessGrowth([], ALLOWANCE)).toMatchObject({ grownBy: 0, fails: false })
  expect(assessGrowth([{ at: 0, value: 5 }], ALLOWANCE)).toMatchObject({ grownBy: 0, fails: false })
})
