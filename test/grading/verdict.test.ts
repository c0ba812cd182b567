import { expect, it } from 'vitest'
import { buildVerdict, listDualFormatVariants } from '../../src/grading/verdict.ts'

const failed = { kind: 'failed', code: 'scorer_timeout', detail: 'late' } as const

it('dual format reads an answer bare and in tags', () => {
  expect(listDualFormatVariants('5', true)).toEqual(['5', '<answer>5</answer>'])
  expect(listDualFormatVariants('5', false)).toEqual(['5'])
})

it('the higher reading counts, clamped to [0, 1]', () => {
  expect(
    buildVerdict('x', [
      { kind: 'score', score: 0.2 },
      { kind: 'score', score: 0.7 },
    ]),
  ).toMatchObject({ score: 0.7 })
  expect(buildVerdict('x', [{ kind: 'score', score: 3 }])).toMatchObject({ score: 1 })
  expect(buildVerdict('x', [{ kind: 'score', score: -3 }])).toMatchObject({ score: 0 })
  expect(buildVerdict('x', [{ kind: 'score', score: Number.NaN }])).toMatchObject({ score: 0, fault: null })
})

it('a reading on which the scorer raises counts 0; the answer is invalid only if all did', () => {
  expect(buildVerdict('x', [{ kind: 'raised' }, { kind: 'score', score: 0.5 }])).toMatchObject({
    score: 0.5,
    fault: null,
  })
  expect(buildVerdict('x', [{ kind: 'raised' }, { kind: 'raised' }])).toMatchObject({
    score: 0,
    fault: 'invalid_answer',
    answer: 'x',
  })
})

it('a timeout leaves the verdict open unless another reading gave full marks', () => {
  expect(buildVerdict('x', [failed, { kind: 'score', score: 0.9 }])).toMatchObject({
    status: 'unscored',
    code: 'scorer_timeout',
    reward: null,
  })
  expect(buildVerdict('x', [failed, { kind: 'score', score: 1 }])).toMatchObject({ status: 'scored', score: 1 })
})
