import { Run } from '@reasoning-gym-server/contract/run'
import { expect, it } from 'vitest'
import { formatLengthBucketField, lengthPercentile } from '../../src/grading/group-statistics.ts'

const told = (length: number) => lengthPercentile({ [formatLengthBucketField(length)]: 1 }, 0.95) ?? Number.NaN

it('a length is told as the upper edge of its bucket: never too few tokens, and up to 5% too many', () => {
  const lengths = Array.from({ length: 20_000 }, (_, k) => k)
  const wrong = lengths.filter((length) => told(length) < length || told(length) > Math.round(length * 1.05))
  expect(wrong).toEqual([])
})

it('the API document says so', () => {
  expect(told(1000)).toBe(1021)
  const { description } = Run.shape.tasks.valueType.shape.length_p95
  expect(description).toMatch(/upper edge of a bucket and can be up to 5% too high/)
})
