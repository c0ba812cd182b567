import { seededRandom } from '@reasoning-gym-server/task-tools/seeded-random'
import { expect, it } from 'vitest'
import {
  computeMajorityRates,
  computeRepeatedSamples,
  majorityAt,
  passAllK,
  type ScoredSample,
} from '../../../../src/features/evals/statistics/repeated-samples.ts'

const right: ScoredSample = { correct: true, answer: '42' }
const majorityAtK = (samples: ScoredSample[], k: number) => majorityAt(samples, [k]).get(k)
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

it('maj@k is the mean over all subsets', () => {
  const random = seededRandom(1)
  for (let round = 0; round < 40; round++) {
    const samples = Array.from({ length: 8 }, (): ScoredSample => {
      const answer = ['42', ' 42', '7', '8', null][Math.floor(random() * 5)] ?? null
      return { answer, correct: answer === '42' || (answer === '7' && random() < 0.2) } // even equal answers may differ
    })
    for (let k = 1; k <= 8; k++) expect(majorityAtK(samples, k)).toBeCloseTo(enumerateMajorities(samples, k), 10)
  }
})

it('maj@k of the most samples that an item can have is exact too', () => {
  const samples = Array.from({ length: 256 }, (_, k) => (k % 3 === 0 ? right : wrong(String(k % 16))))
  expect([1, 64, 256].map((k) => majorityAtK(samples, k))).toEqual([
    expect.closeTo(86 / 256, 10),
    expect.closeTo(1, 3),
    1,
  ])
})

/** Looks at every subset of k samples. */
function enumerateMajorities(samples: readonly ScoredSample[], k: number): number {
  const subsets = Array.from({ length: 2 ** samples.length }, (_, bits) => samples.filter((_, i) => (bits >> i) & 1))
  const rates = subsets
    .filter(({ length }) => length === k)
    .map((subset) => {
      const voted = subset.filter(({ answer }) => answer !== null)
      const byAnswer = [...Map.groupBy(voted, ({ answer }) => answer?.trim()).values()]
      const top = byAnswer.filter(({ length }) => length === Math.max(...byAnswer.map((same) => same.length)))
      return top.length === 0 ? 0 : top.filter((same) => same.some(({ correct }) => correct)).length / top.length
    })
  return rates.reduce((sum, rate) => sum + rate, 0) / rates.length
}

it('maj@k of an item is computed once for all groups that it is in', () => {
  const samples = [right, wrong()]
  expect(computeMajorityRates(samples)).toBe(computeMajorityRates(samples))
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
