import type { GroupVerdict } from '@reasoning-gym-server/contract/verdict'
import { seededRandom } from '@reasoning-gym-server/task-tools/seeded-random'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  buildEvidence,
  estimateLearnability,
  formatEvidenceList,
  MIN_RELATIVE_SHARE,
  type NumberedEvidence,
  parseEvidenceList,
  weighByLearnability,
} from '../../../../src/features/runs/sequence/learnability.ts'
import type { TaskPlan } from '../../../../src/features/runs/sequence/sequence.ts'

const UNSEEN = estimateLearnability([], 0)

const scored = (score: number, more: object = {}): GroupVerdict => ({
  status: 'scored',
  reward: score / 2,
  score,
  answer: '',
  fault: null,
  components: { correct: score, format: 1, length_penalty: 0, try_discount: 0 },
  advantage: 0,
  ...more,
})
const unscored = { status: 'unscored', reward: null, score: null, code: 'scorer_timeout', detail: '', advantage: null }

describe('what a group tells', () => {
  it('is the sample variance and the mean of its voters’ scores', () => {
    const voters = [1, 0, 0.25].map((score) => scored(score))
    const others = [scored(1, { skipped: 'too_short' }), scored(0, { masked: true }), unscored as GroupVerdict]
    const variance = ((1 - 1.25 / 3) ** 2 + (1.25 / 3) ** 2 + (0.25 - 1.25 / 3) ** 2) / 2
    expect(buildEvidence([...voters, ...others], 0.2)).toEqual({
      variance: expect.closeTo(variance, 12),
      score: expect.closeTo(1.25 / 3, 12),
      floor: expect.closeTo(0.2 * 0.485714285714, 9),
    })
  })

  it('is a floor of luck if scores are all or nothing, and none if each answer gets part of the credit', () => {
    const floorOf = (...scores: number[]) =>
      buildEvidence(
        scores.map((score) => scored(score)),
        0.6,
      )?.floor
    expect(floorOf(0, 1, 1, 0)).toBeCloseTo(0.6, 9)
    expect(floorOf(1, 1)).toBe(0.6)
    expect(floorOf(0.01, 1, 1, 0.01)).toBeGreaterThan(0.57)
    expect(floorOf(0.6, 1, 0.6, 1)).toBe(0)
    expect(floorOf(0.6, 0.6)).toBe(0)
  })

  it('is nothing if fewer than two rollouts vote', () => {
    expect(buildEvidence([scored(1), scored(0, { masked: true })], 0)).toBeUndefined()
  })

  it('is stored and read to the last digit', () => {
    const number = fc.double({ min: 0, max: 1, noNaN: true })
    const group = fc.record({ variance: number, score: number, floor: number, number: fc.nat() })
    fc.assert(
      fc.property(fc.array(group, { maxLength: 16 }), (evidence) => {
        expect(parseEvidenceList(formatEvidenceList(evidence))).toEqual(evidence.map((one) => ({ ...one })))
      }),
    )
  })
})

describe('the learnability of a task', () => {
  /** Groups of 16 of a policy whose rollouts are right by `isRight`, of which the last are the newest. */
  function play(floor: number, isRight: (random: () => number, item: number) => boolean): number {
    const estimates = Array.from({ length: 40 }, (_, seed) => {
      const random = seededRandom(seed)
      const evidence = Array.from({ length: 40 }, (_, k) => {
        const item = random()
        const scores = Array.from({ length: 16 }, () => scored(isRight(random, item) ? 1 : 0))
        const told = buildEvidence(scores, floor)
        return told && { ...told, number: k + 1 }
      }).filter((told) => told !== undefined)
      return estimateLearnability(evidence.slice(-16), 40)
    })
    return estimates.reduce((sum, one) => sum + one, 0) / estimates.length
  }

  it.each([
    ['always right', 0, () => true, 0],
    ['always wrong', 0, () => false, 0],
    ['half of the rollouts right', 0, (random: () => number) => random() < 0.5, 0.25],
    ['each item all right or all wrong', 0, (_: unknown, item: number) => item < 0.5, 0],
    ['one answer to all, which is often right', 0.7, (_: unknown, item: number) => item < 0.7, 0],
    ['guesses at a floor of 0.5', 0.5, (random: () => number) => random() < 0.5, 0],
    [
      'guesses at a floor of 0.5, of which half miss the format',
      0.5,
      (random: () => number) => random() < 0.25,
      0.0625,
    ],
    ['half solved, the rest guessed', 0.5, (random: () => number) => random() < 0.75, 0.25 * 0.25],
  ] as const)('%s at a floor of %d', (_name, floor, isRight, expected) => {
    expect(Math.abs(play(floor, isRight) - expected)).toBeLessThan(floor === 0 ? 0.012 : 0.03) // of a few groups
  })

  it('goes back to that of an unseen task while the task is not drawn', () => {
    const dead = Array.from({ length: 16 }, (_, k) => ({ variance: 0, score: 0, floor: 0, number: k + 1 }))
    const unseenFor = (groups: number) => estimateLearnability(dead, 16 + groups)
    expect(unseenFor(0)).toBeLessThan(0.01 * UNSEEN)
    expect(unseenFor(5000)).toBeGreaterThan(0.45 * UNSEEN)
    expect(unseenFor(5000)).toBeLessThan(0.55 * UNSEEN)
    expect(unseenFor(100_000)).toBeCloseTo(UNSEEN, 5)
  })
})

describe('the share of a task', () => {
  const plan = (task: string, weight: number) => ({ task, weight }) as TaskPlan // no other field is read
  const dead = (number: number): NumberedEvidence[] =>
    Array.from({ length: 16 }, () => ({ variance: 0, score: 1, floor: 0, number }))

  it('is at least 5% of what its weight alone would give, whatever the evidence', () => {
    const evidence = fc.array(
      fc.record({
        variance: fc.double({ min: 0, max: 0.5, noNaN: true }),
        score: fc.double({ min: 0, max: 1, noNaN: true }),
        floor: fc.double({ min: 0, max: 1, noNaN: true }),
        number: fc.nat({ max: 100_000 }),
      }),
      { maxLength: 16 },
    )
    const tasks = fc.array(fc.tuple(fc.double({ min: 0, max: 1e6, noNaN: true }), evidence), {
      minLength: 1,
      maxLength: 9,
    })
    expect(MIN_RELATIVE_SHARE).toBe(0.05)
    fc.assert(
      fc.property(tasks, (drawn) => {
        const plans = drawn.map(([weight], k) => plan(`t${k}`, weight))
        const total = plans.reduce((sum, { weight }) => sum + weight, 0)
        fc.pre(total > 1e-9)
        const weightOf = weighByLearnability(plans, Object.fromEntries(drawn.map(([, told], k) => [`t${k}`, told])))
        const shares = plans.map(weightOf)
        expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9)
        for (const [k, share] of shares.entries())
          expect(share).toBeGreaterThanOrEqual(0.05 * ((plans[k]?.weight ?? 0) / total) * (1 - 1e-9))
      }),
    )
  })

  it('is that and no more for a task without anything to learn beside one that has', () => {
    const plans = [plan('dead', 1), plan('alive', 3)]
    const alive = dead(40).map((group) => ({ ...group, variance: 0.25, score: 0.5 }))
    const weightOf = weighByLearnability(plans, { dead: dead(40), alive })
    expect(plans.map(weightOf)[0]).toBeGreaterThanOrEqual(0.05 * 0.25)
    expect(plans.map(weightOf)[0]).toBeLessThan(0.055 * 0.25)
  })

  it('is the weight’s own while nothing is known, and while there is nothing to learn', () => {
    const plans = [plan('a', 1), plan('b', 3)]
    expect(plans.map(weighByLearnability(plans, {}))).toEqual([0.25, expect.closeTo(0.75, 9)])
    const shares = plans.map(weighByLearnability(plans, { a: dead(16), b: dead(16) }))
    expect(shares).toEqual([expect.closeTo(0.25, 9), expect.closeTo(0.75, 9)])
  })
})
