import { seededRandom } from '@reasoning-gym-server/task-tools/seeded-random'
import { expect, it } from 'vitest'
import {
  holmCorrection,
  pairedDifference,
  signFlipPValue,
  stratifiedDifference,
} from '../../../../src/features/evals/statistics/paired-differences.ts'

// Expected values: statsmodels 0.15.0 and scipy 1.17.1. Errors: OLS on a constant. p: permutation_test with
// permutation_type='samples'. Holm: multipletests(method='holm').

it('difference, error and interval are those of statsmodels', () => {
  const a = [1, 0.5, 0.75, 0, 1, 1, 0.25, 0.9]
  const b = [0.5, 0.5, 1, 0, 0.25, 0.75, 0, 0.4]
  const found = pairedDifference(a.map((score, k) => [score, b[k] ?? 0]))
  expect(found?.difference).toBeCloseTo(0.25, 12)
  expect(found?.stderr).toBeCloseTo(0.11572751247156891, 12)
  expect(found?.confidence_95?.[0]).toBeCloseTo(0.25 - 2.36462425159278 * 0.11572751247156891, 4) // t of 7 degrees of freedom
  expect(found?.smallest_detectable).toBeCloseTo(0.32422048826933164, 12)
  expect(found?.p).toBe(0.125)
})

it('six items that all agree reject at 5%, five give no verdict', () => {
  const better = (n: number) => Array.from({ length: n }, (): [number, number] => [1, 0])
  expect(pairedDifference(better(6))?.p).toBe(2 / 64)
  expect(pairedDifference(better(5))?.p).toBeNull()
  expect(pairedDifference(better(2))?.p).toBeNull()
})

it('equal evals do not differ, and the interval is as wide as eight items leave it', () => {
  const found = pairedDifference(Array.from({ length: 8 }, (_, k): [number, number] => [k, k]))
  expect(found).toMatchObject({ difference: 0, stderr: 0, p: 1, smallest_detectable: null })
  expect(found?.confidence_95?.[1]).toBeCloseTo(1 - 0.05 ** (1 / 8), 12)
  expect(found?.confidence_95?.[0]).toBeCloseTo(-(1 - 0.05 ** (1 / 8)), 12)
})

it('an interval stays within the possible differences, and needs six items', () => {
  const pairs = (wins: number, losses: number) => [
    ...Array.from({ length: wins }, (): [number, number] => [1, 0]),
    ...Array.from({ length: losses }, (): [number, number] => [0, 1]),
  ]
  expect(pairedDifference(pairs(9, 1))?.confidence_95?.[1]).toBe(1)
  expect(pairedDifference(pairs(1, 9))?.confidence_95?.[0]).toBe(-1)
  expect(pairedDifference(pairs(8, 0))?.confidence_95?.[1]).toBe(1)
  expect(pairedDifference(pairs(4, 1))).toMatchObject({ confidence_95: null, p: null, smallest_detectable: null })
})

it('the sampled test agrees with the exact one, and the normal one with both', () => {
  const values = Array.from({ length: 14 }, (_, k) => ((k * 37) % 11) - 3.5)
  const sampled = signFlipPValue([...values, 1e-9]) // one more item than is tried exactly
  expect(Math.abs(sampled - signFlipPValue(values))).toBeLessThan(0.02)
  const many = Array.from({ length: 399 }, (_, k) => Math.sin(k * k) + 0.08)
  expect(Math.abs(signFlipPValue([...many, 0.08]) - signFlipPValue(many))).toBeLessThan(0.02)
})

it('what the strata differ by is no error', () => {
  const all = (difference: number) => Array.from({ length: 4 }, (): [number, number] => [difference, 0])
  expect(stratifiedDifference([all(0.5), all(0)])).toMatchObject({ difference: 0.25, stderr: 0 })
})

it('a task that alone differs decides how many degrees of freedom a suite has', () => {
  const [agreeing, differing] = [
    Array(50).fill([1, 1]),
    [1, 0, 1, 1, 0, 1].map((score): [number, number] => [score, 0]),
  ]
  const { difference = 0, stderr, confidence_95 } = stratifiedDifference([agreeing, differing]) ?? {}
  expect(((confidence_95?.[1] ?? 0) - difference) / (stderr ?? 1)).toBeCloseTo(2.570582, 2) // t of 5
})

it('the interval of a task of ten items covers its difference', () => {
  const random = seededRandom(1)
  const draw = () => Number(random() < 0.5)
  const covered = Array.from({ length: 4000 }, () => {
    const pairs = Array.from({ length: 10 }, (): [number, number] => [draw(), draw()])
    const [low = 1, high = -1] = pairedDifference(pairs)?.confidence_95 ?? []
    return low <= 0 && 0 <= high
  })
  expect(covered.filter(Boolean).length / covered.length).toBeGreaterThan(0.94) // 0.91 by the normal distribution
})

it('Holm’s correction is that of statsmodels, in the order given', () => {
  const expected = [0.05, 0.12, 0.12, 0.03, 0.5, 0.12]
  holmCorrection([0.01, 0.04, 0.03, 0.005, 0.5, 0.04]).forEach((p, k) => {
    expect(p).toBeCloseTo(expected[k] ?? Number.NaN, 12)
  })
})
