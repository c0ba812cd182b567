import { expect, it } from 'vitest'
import { divideIntoRows } from '../../../../src/features/runs/metrics.ts'
import { getLengthBin, getRewardBin } from '../../../../src/grading/group-statistics.ts'

const count = (length: number, first = 0) => Array.from({ length }, (_, k) => first + k)

it('divides steps into rows of a power of two, each step in one row', () => {
  const steps = count(5000)
  const rows = divideIntoRows(steps, 300)
  expect(rows.length).toBeLessThanOrEqual(300)
  expect(rows.length).toBeGreaterThan(150)
  expect(rows.flatMap((row) => row.steps)).toEqual(steps)
  for (const { first, width, steps } of rows) {
    expect(first % width).toBe(0)
    expect(steps.every((step) => step >= first && step < first + width)).toBe(true)
  }
})

it('keeps the rows of a run that grows within the width', () => {
  const [before, after] = [divideIntoRows(count(700), 100), divideIntoRows(count(780), 100)]
  expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1))
})

it('leaves steps alone if there are few, far apart or none', () => {
  expect(divideIntoRows(count(4), 10).map(({ width }) => width)).toEqual([1, 1, 1, 1])
  const versions = [1.7e15, 1.7e15 + 3e6, 1.7e15 + 6e6]
  expect(divideIntoRows(versions, 3).flatMap(({ steps }) => steps)).toEqual(versions)
  expect(divideIntoRows(versions, 1)).toHaveLength(1)
  expect(divideIntoRows([], 10)).toEqual([])
})

it('bins rewards and lengths', () => {
  expect([-2, 0, 0.05, 0.1, 0.3, 0.7, 0.99, 1, 1.5].map(getRewardBin)).toEqual([0, 0, 0, 1, 3, 7, 9, 9, 9])
  expect([0, 1, 2, 3, 4, 5, 8, 9, 1024, 1025, 1e12].map(getLengthBin)).toEqual([0, 0, 1, 2, 2, 3, 3, 4, 10, 11, 20])
})
