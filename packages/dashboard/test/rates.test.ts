import { expect, it } from 'vitest'
import { metricRows, type Point, rates } from './pure.ts'

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

it('the first seconds are counted, not extrapolated to a minute', () => {
  const { values, seconds } = computeRates(heardFor(10), ['items'])
  expect(seconds).toBe(10)
  expect(values.items?.at(-1)).toBe(50)
})

it('what comes evenly has one rate', () => {
  const { values } = computeRates(heardFor(600), ['items'])
  expect(new Set(values.items?.map((value) => Math.round(value)))).toEqual(new Set([300]))
})

it('rows of metrics are continued by newer ones, unless the server made them wider', () => {
  const row = (first_step: number, width = 4, extra = {}) => ({
    first_step,
    width,
    step: first_step + width - 1,
    ...extra,
  })
  const rows = [row(0), row(4)]
  expect(metricRows.getRefreshStart(rows)).toBe(4)
  expect(metricRows.continueRows(rows, [row(4, 4, { groups: 9 }), row(8)])).toEqual([
    row(0),
    row(4, 4, { groups: 9 }),
    row(8),
  ])
  expect(metricRows.continueRows(rows, [row(0, 8), row(8, 8)])).toBeUndefined()
  expect(metricRows.continueRows(rows, [])).toBeUndefined()
  expect(metricRows.continueRows([], [row(0)])).toBeUndefined()
})
