import { expect, it } from 'vitest'
import { type Point, rates } from './pure.ts'

const { appendPoint, computeRates } = rates
/** As it is heard: every two seconds. */
const heardFor = (seconds: number) => {
  let points: Point[] = []
  for (let t = 0; t <= seconds; t += 2) points = appendPoint(points, { t, queued: 0, totals: { items: 5 * t } })
  return points
}

it('a page that is open for three hours shows the last one of them, and no gap in it', () => {
  const points = heardFor(3 * 3600)
  const times = points.map(({ t }) => t)
  expect(times.at(-1)).toBe(3 * 3600)
  expect(times[0]).toBeGreaterThan(2 * 3600)
  expect(times[0]).toBeLessThan(2 * 3600 + 20)
  expect(Math.max(...times.slice(1).map((t, k) => t - (times[k] ?? 0)))).toBeLessThanOrEqual(12)
  expect(points.length).toBeLessThan(400)
})

it('what comes evenly has one rate', () => {
  const { values } = computeRates(heardFor(600), ['items'])
  expect(new Set(values.items?.map((value) => Math.round(value)))).toEqual(new Set([300]))
})
