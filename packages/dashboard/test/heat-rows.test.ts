import { join } from 'node:path'
import { expect, it } from 'vitest'

const FOLDER = join(import.meta.dirname, '..', 'src')
interface Row {
  task: string
  cells: (number | null)[]
}
const { arrangeRows, isStuck, computeChange } = (await import(join(FOLDER, 'task-order.js'))) as {
  arrangeRows(rows: Row[], view: { order?: string; find?: string; category?: string; categories?: object }): Row[]
  isStuck(cells: (number | null)[], difficulty?: (number | null)[]): boolean
  computeChange(cells: (number | null)[]): number | null
}
const { prepareStrip } = (await import(join(FOLDER, 'chart-data.js'))) as {
  prepareStrip(columns: number[][], reference?: number[][]): { first: number; bins: number; shares: number[][] }
}
const { bucketByDifficulty } = (await import(join(FOLDER, 'chart-data.js'))) as {
  bucketByDifficulty(points: object[]): { difficulty: number; score: number; groups: number }[][]
}

const rising = { task: 'rising', cells: [0.1, 0.2, 0.3, 0.5, 0.6, 0.7] }
const flat = { task: 'flat', cells: [0.3, 0.3, 0.3, 0.3, 0.3, 0.3] }
const solved = { task: 'solved', cells: [0.95, 0.95, 0.95, 0.95, 0.95, 0.95] }
const rows = [rising, flat, solved]
const order = (view: Parameters<typeof arrangeRows>[1]) => arrangeRows(rows, view).map(({ task }) => task)

it('rows are ordered by their last value, their change, or their name', () => {
  expect(order({})).toEqual(['flat', 'rising', 'solved'])
  expect(order({ order: 'best' })).toEqual(['solved', 'rising', 'flat'])
  expect(order({ order: 'movers' })).toEqual(['rising', 'flat', 'solved'])
  expect(order({ order: 'name' })).toEqual(['flat', 'rising', 'solved'])
})

it('a task is stuck if it neither moves nor is solved', () => {
  expect(order({ order: 'stuck' })).toEqual(['flat'])
  expect(isStuck([0.3, 0.3])).toBe(false)
  expect(isStuck([null, 0.3, 0.3, 0.3, null, 0.3, 0.3, 0.3])).toBe(true)
  const flat = [0.7, 0.7, 0.7, 0.7, 0.7, 0.7]
  expect(isStuck(flat, [0.2, 0.3, 0.4, 0.5, 0.6, 0.7])).toBe(false) // a curriculum holds the accuracy of a task that climbs
  expect(isStuck(flat, flat)).toBe(true)
  expect(computeChange([null, 0.2, 0.5])).toBeCloseTo(0.3)
  expect(computeChange([0.2])).toBeNull()
})

it('rows can be found by name and category', () => {
  expect(order({ find: ' LV' })).toEqual(['solved'])
  expect(order({ category: 'logic', categories: { flat: 'logic' } })).toEqual(['flat'])
})

it('a strip shows the share of each bin that any of the compared strips uses', () => {
  expect(prepareStrip([[0, 0, 1, 3], [0, 0, 0, 2], []])).toEqual({
    first: 2,
    bins: 2,
    shares: [
      [0.25, 0.75],
      [0, 1],
      [0, 0],
    ],
  })
  expect(prepareStrip([[1]], [[1], [0, 0, 1]]).shares).toEqual([[1, 0, 0]])
  expect(prepareStrip([[]]).bins).toBe(0)
})

it('accuracy against difficulty takes the difficulty before each group, in two halves', () => {
  const points = [0.5, 0.5, 1, 0].map((score, k) => ({ score, difficulty: [0.2, 0.2, 0.2, 0.2][k] }))
  const item = { difficulty: 0.6 }
  const [early, late] = bucketByDifficulty([...points, { score: 1, difficulty: 0.9, item }])
  expect(early).toEqual([{ difficulty: 0.2, score: 0.75, groups: 2 }])
  expect(late).toEqual([
    { difficulty: 0.2, score: 0, groups: 1 },
    { difficulty: 0.6, score: 1, groups: 1 },
  ])
})
