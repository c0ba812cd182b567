import { expect, it } from 'vitest'
import { SequentialTest } from '../../../../src/features/evals/statistics/sequential-test.ts'

const OPTIONS = { alpha: 0.05, smallestDifference: 0.05 }

function play(differences: Iterable<number>, options = OPTIONS): SequentialTest {
  const test = new SequentialTest(options)
  for (const difference of differences) test.add(difference)
  return test
}

const repeat = (value: number, times: number) => Array.from({ length: times }, () => value)

it('one side that always wins is named after a few pairs, and either side alike', () => {
  const a = play(repeat(1, 20))
  expect(a.decision).toBe('a_better')
  expect(a.pairs).toBeLessThan(12)
  expect(play(repeat(-1, 20)).decision).toBe('b_better')
  const [low, high] = a.computeInterval()
  const mirrored = play(repeat(-1, 20)).computeInterval()
  expect([-mirrored[1], -mirrored[0]]).toEqual([low, high])
})

it('a winner is named at the very pair at which the interval leaves 0', () => {
  const test = new SequentialTest(OPTIONS)
  const pattern = [1, 0, 0, 1, -1, 1, 0, 1]
  for (let k = 0; !test.decision; k++) {
    expect(test.computeInterval()[0]).toBeLessThanOrEqual(0)
    test.add(pattern[k % pattern.length] ?? 0)
  }
  expect(test.decision).toBe('a_better')
  expect(test.computeInterval()[0]).toBeGreaterThanOrEqual(0)
  expect(test.eValue).toBeGreaterThanOrEqual(20)
  expect(test.pValue).toBeCloseTo(1 / test.eValue, 12)
})

it('what is always equal is equivalent, unless every difference matters', () => {
  const equal = play(repeat(0, 300))
  expect(equal.decision).toBe('equivalent')
  const [low, high] = equal.computeInterval()
  expect(low).toBeGreaterThan(-0.05)
  expect(high).toBeLessThan(0.05)
  expect(equal).toMatchObject({ eValue: 1, pValue: 1 })
  expect(play(repeat(0, 300), { ...OPTIONS, smallestDifference: 0 }).decision).toBeUndefined()
})

it('the expected wealth after a pair is no more than before, if there is no difference', () => {
  for (const [low, high] of [
    [-1, 1],
    [-1, 0.25],
    [-0.1, 1],
  ] as const) {
    const chanceOfHigh = -low / (high - low) // so that the mean is 0
    const expected = chanceOfHigh * play([high]).eValue + (1 - chanceOfHigh) * play([low]).eValue
    expect(expected).toBeCloseTo(1, 12)
  }
})

it('pairs after the decision change nothing', () => {
  const decided = play(repeat(1, 20))
  const before = [decided.pairs, decided.eValue]
  decided.add(-1)
  expect([decided.pairs, decided.eValue]).toEqual(before)
})
