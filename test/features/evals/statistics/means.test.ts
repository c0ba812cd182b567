import { expect, it } from 'vitest'
import { clusteredMean, stratifiedMean, wilsonInterval } from '../../../../src/features/evals/statistics/means.ts'

// Expected values: statsmodels 0.15.0. Means and errors: OLS on a constant, cov_type='cluster' by item. Wilson's interval:
// proportion_confint(method='wilson').

it('mean and clustered error are those of statsmodels', () => {
  const found = clusteredMean([[1, 1, 0.5, 0], [0, 0, 0, 1], [1, 1, 1, 1], [0.25, 0, 0.5], [0.1, 1], [0]])
  expect(found?.mean).toBeCloseTo(0.5194444444444443, 12)
  expect(found?.stderr).toBeCloseTo(0.148595582050846, 12)
  const single = clusteredMean([0.2, 0.9, 1, 0, 0.4, 1, 1].map((score) => [score]))
  expect(single?.stderr).toBeCloseTo(0.1630908932337496, 12)
})

it('nothing has no mean, and a single item no error', () => {
  expect(clusteredMean([])).toBeNull()
  expect(clusteredMean([[], []])).toBeNull()
  expect(clusteredMean([[1, 0]])).toEqual({ mean: 0.5, stderr: null, confidence_95: null })
})

it('a binary mean has the interval of Wilson', () => {
  const [low, high] = wilsonInterval(0.8, Math.sqrt((0.8 * 0.2) / 10), 10)
  expect(low).toBeCloseTo(0.4901625, 6)
  expect(high).toBeCloseTo(0.9433178, 6)
})

it('where every score is 1 the interval is not a point, and stays below 1', () => {
  const found = stratifiedMean([[[1], [1], [1], [1], [1]]])
  expect(found?.stderr).toBe(0)
  expect(found?.confidence_95?.[0]).toBeCloseTo(0.5655, 4)
  expect(found?.confidence_95?.[1]).toBe(1)
})

it('what the strata differ by is no error', () => {
  const easy = [[1], [1], [1], [1]]
  const hard = [[0], [0], [0], [0]]
  expect(stratifiedMean([easy, hard])?.stderr).toBe(0)
  expect(clusteredMean([...easy, ...hard])?.stderr).toBeCloseTo(0.18898, 5)
})

it('errors of strata add up: two of five items each halve the variance of one', () => {
  const stratum = [[0], [0], [1], [1], [1]]
  const one = stratifiedMean([stratum])?.stderr ?? Number.NaN
  expect(stratifiedMean([stratum, stratum])?.stderr).toBeCloseTo(one / Math.SQRT2, 12)
})

it('items that are alone in their stratum have an error all the same', () => {
  expect(stratifiedMean([[[1]], [[0]], [[1]], [[0]]])?.stderr).toBeGreaterThan(0.2)
  expect(stratifiedMean([[[1], [0], [1]], [[0]]])?.stderr).toBeGreaterThan(0.2)
})
