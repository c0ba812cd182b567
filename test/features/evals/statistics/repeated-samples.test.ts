import { expect, it } from 'vitest'
import {
  computeRepeatedSamples,
  majorityAtK,
  passAllK,
  type ScoredSample,
} from '../../../../src/features/evals/statistics/repeated-samples.ts'

const right: ScoredSample = { correct: true, answer: '42' }
const wrong = (answer: string | null = '7'): ScoredSample => ({ correct: false, answer })

it('pass^k is the chance that k drawn samples are all right', () => {
  expect(passAllK(4, 2, 1)).toBeCloseTo(0.5, 12)
  expect(passAllK(4, 2, 2)).toBeCloseTo(1 / 6, 12)
  expect(passAllK(4, 2, 3)).toBe(0)
  expect(passAllK(4, 4, 4)).toBe(1)
})

it('maj@k takes the most common answer, and draws among equals', () => {
  expect(majorityAtK([right, right, wrong()], 3)).toBe(1)
  expect(majorityAtK([right, wrong(), wrong()], 3)).toBe(0)
  expect(majorityAtK([right, wrong()], 2)).toBe(0.5)
  expect(majorityAtK([right, wrong(null), wrong(null)], 3)).toBe(1)
  expect(majorityAtK([wrong(null)], 1)).toBe(0)
})

it('maj@1 is about pass@1', () => {
  const samples = Array.from({ length: 8 }, (_, k) => (k < 6 ? right : wrong(String(k))))
  expect(Math.abs(majorityAtK(samples, 1) - 0.75)).toBeLessThan(0.15)
})

it('all k are taken over one set of items, so that pass@k never falls', () => {
  const found = computeRepeatedSamples([
    [right, right],
    [wrong(), wrong()],
    [right, wrong()],
    [right], // lacks a sample: in no k
  ])
  expect(found.items).toBe(3)
  expect(found.pass_at.mean).toEqual({ 1: 0.5, 2: 2 / 3 })
  expect(found.pass_all.mean).toEqual({ 1: 0.5, 2: 1 / 3 })
  expect(found.pass_at.stderr['1']).toBeCloseTo(0.288675, 6)
})

it('without samples there is nothing', () => {
  expect(computeRepeatedSamples([[], []])).toMatchObject({ items: 0, pass_at: { mean: {}, stderr: {} } })
})
