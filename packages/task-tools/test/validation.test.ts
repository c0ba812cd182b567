import { expect, it } from 'vitest'
import { RUNG_CHECKS, SKIPPED_CHECKS, TASK_CHECKS } from '../src/validation/checks.ts'
import { estimateRate } from '../src/validation/truth-table.ts'

it('every check of the policy is measured or has a reason', () => {
  const ids = [SKIPPED_CHECKS, RUNG_CHECKS, TASK_CHECKS].flatMap((checks) => Object.keys(checks))
  expect(new Set(ids).size).toBe(44) // with the two of report.ts, the 46 of policy v2
  expect(ids).toHaveLength(44)
})

it('the intervals are Wilson’s', () => {
  expect(estimateRate(10, 10)).toEqual({ rate: 1, low: 0.7225, high: 1, n: 10 })
  expect(estimateRate(5, 20)).toEqual({ rate: 0.25, low: 0.1119, high: 0.4687, n: 20 })
  expect(estimateRate(0, 0)).toEqual({ rate: 0, low: 0, high: 1, n: 0 })
})
