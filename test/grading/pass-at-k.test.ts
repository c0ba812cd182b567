import { expect, it } from 'vitest'
import { estimatePassAtK } from '../../src/grading/group-statistics.ts'

it('pass@k is the unbiased estimator', () => {
  // The numpy function of the paper on Codex.
  const expected: [n: number, c: number, k: number, chance: number][] = [
    [10, 3, 1, 0.3],
    [10, 3, 5, 0.9166666666666666],
    [200, 7, 100, 0.9929911172418123],
    [4, 0, 2, 0],
    [4, 4, 3, 1],
    [16, 1, 16, 1],
  ]
  for (const [n, c, k, chance] of expected) expect(estimatePassAtK(n, c, k)).toBeCloseTo(chance, 12)
})
