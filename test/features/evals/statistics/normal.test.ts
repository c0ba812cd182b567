import { expect, it } from 'vitest'
import { erfc } from '../../../../src/features/evals/statistics/means.ts'
import { studentT95 } from '../../../../src/grading/statistics.ts'

// Expected values: scipy 1.17.1.

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

it('the 97.5% point of Student’s t is that of scipy', () => {
  const expected: [degreesOfFreedom: number, value: number][] = [
    [1, 12.7062],
    [4, 2.7764],
    [5, 2.5706],
    [10, 2.2281],
    [100, 1.984],
  ]
  for (const [degreesOfFreedom, value] of expected) {
    expect(Math.abs(studentT95(degreesOfFreedom) - value)).toBeLessThan(0.005)
  }
})
