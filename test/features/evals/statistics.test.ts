import { expect, it } from 'vitest'
import {
  clusteredMean,
  erfc,
  holmCorrection,
  pairedDifference,
  passAtK,
} from '../../../src/features/evals/statistics.ts'

// Expected values: statsmodels 0.15.0 with scipy 1.17.1. Means: OLS on a constant, cov_type='cluster' by item; the interval
// and p of its result. Holm: multipletests(method='holm'). pass@k: the numpy function of the paper on Codex. erfc: scipy.

it('mean and clustered error are those of statsmodels', () => {
  const found = clusteredMean([[1, 1, 0.5, 0], [0, 0, 0, 1], [1, 1, 1, 1], [0.25, 0, 0.5], [0.1, 1], [0]])
  expect(found?.mean).toBeCloseTo(0.5194444444444443, 12)
  expect(found?.stderr).toBeCloseTo(0.148595582050846, 12)
  expect(found?.confidence_95?.[0]).toBeCloseTo(0.22820245536301959, 12)
  expect(found?.confidence_95?.[1]).toBeCloseTo(0.810686433525869, 12)
  const single = clusteredMean([0.2, 0.9, 1, 0, 0.4, 1, 1].map((score) => [score]))
  expect(single?.stderr).toBeCloseTo(0.1630908932337496, 12)
})

it('nothing has no mean, and a single item no error', () => {
  expect(clusteredMean([])).toBeNull()
  expect(clusteredMean([[], []])).toBeNull()
  expect(clusteredMean([[1, 0]])).toEqual({ mean: 0.5, stderr: null, confidence_95: null })
})

it('a paired difference is that of statsmodels', () => {
  const a = [1, 0.5, 0.75, 0, 1, 1, 0.25, 0.9]
  const b = [0.5, 0.5, 1, 0, 0.25, 0.75, 0, 0.4]
  const found = pairedDifference(a.map((score, k) => [score, b[k] ?? 0]))
  expect(found?.difference).toBeCloseTo(0.25, 12)
  expect(found?.stderr).toBeCloseTo(0.11572751247156891, 12)
  expect(found?.confidence_95?.[0]).toBeCloseTo(0.023178243535314946, 12)
  expect(found?.confidence_95?.[1]).toBeCloseTo(0.47682175646468494, 12)
  expect(found?.p).toBeCloseTo(0.03075356125927459, 12)
  expect(found?.smallest_detectable).toBeCloseTo(0.32422048826933164, 12)
})

it('equal evals differ by nothing, surely', () => {
  expect(
    pairedDifference([
      [1, 1],
      [0, 0],
    ]),
  ).toMatchObject({ difference: 0, stderr: 0, p: 1 })
})

it('Holm’s correction is that of statsmodels, in the order given', () => {
  const expected = [0.05, 0.12, 0.12, 0.03, 0.5, 0.12]
  holmCorrection([0.01, 0.04, 0.03, 0.005, 0.5, 0.04]).forEach((p, k) => {
    expect(p).toBeCloseTo(expected[k] ?? Number.NaN, 12)
  })
})

it('pass@k is the unbiased estimator', () => {
  const expected: [n: number, c: number, k: number, chance: number][] = [
    [10, 3, 1, 0.3],
    [10, 3, 5, 0.9166666666666666],
    [200, 7, 100, 0.9929911172418123],
    [4, 0, 2, 0],
    [4, 4, 3, 1],
    [16, 1, 16, 1],
  ]
  for (const [n, c, k, chance] of expected) expect(passAtK(n, c, k)).toBeCloseTo(chance, 12)
})

it('erfc is that of scipy near 0, at the seam and far out', () => {
  const expected: [x: number, value: number][] = [
    [0, 1],
    [0.1, 0.8875370839817152],
    [0.5, 0.4795001221869535],
    [1, 0.15729920705028516],
    [2, 0.004677734981047266],
    [2.49, 0.00042928786773391303],
    [2.51, 0.0003857054817242799],
    [3, 2.2090496998585445e-5],
    [5, 1.5374597944280347e-12],
    [10, 2.0884875837625446e-45],
  ]
  for (const [x, value] of expected) expect(Math.abs(erfc(x) / value - 1)).toBeLessThan(1e-11)
})
