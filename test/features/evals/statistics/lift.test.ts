import { expect, it } from 'vitest'
import { estimateLift } from '../../../../src/features/evals/statistics/means.ts'

const estimate = { mean: 0.7, stderr: 0.05, confidence_95: [0.6, 0.8] as [number, number] }

it('guessing has a lift of 0, full marks of 1, and the interval is stretched likewise', () => {
  const found = estimateLift(estimate, [0.5, 0.3])
  expect(found.guess_floor).toBeCloseTo(0.4, 12)
  expect(found.lift).toBeCloseTo(0.5, 12)
  expect(found.lift_stderr).toBeCloseTo(0.05 / 0.6, 12)
  expect(found.lift_confidence_95?.[0]).toBeCloseTo(1 / 3, 12)
  expect(found.lift_confidence_95?.[1]).toBeCloseTo(2 / 3, 12)
  expect(estimateLift({ ...estimate, mean: 0.4 }, [0.4]).lift).toBe(0)
  expect(estimateLift({ ...estimate, mean: 0.1 }, [0.4]).lift).toBeLessThan(0)
})

it('there is no lift where guessing earns full marks, and none without scores', () => {
  expect(estimateLift(estimate, [1, 1])).toMatchObject({ guess_floor: 1, lift: null, lift_confidence_95: null })
  expect(estimateLift(null, [])).toMatchObject({ guess_floor: null, lift: null })
})
