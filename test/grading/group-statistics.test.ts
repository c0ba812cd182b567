import type { GroupSummary, RolloutSummary, StoredBatch } from '@reasoning-gym-server/contract/batch'
import { FormatFault } from '@reasoning-gym-server/contract/verdict'
import { describe, expect, it } from 'vitest'
import { computeBatchMetrics } from '../../src/features/batches/batch-stream.ts'
import { buildGroupSums } from '../../src/features/rollouts/group-counters.ts'
import { computeStepMetrics } from '../../src/features/runs/metrics.ts'
import type { GroupResult } from '../../src/grading/group-advantages.ts'
import {
  divideSums,
  parseFormatFaultCounts,
  type StatisticSums,
  sumGroups,
} from '../../src/grading/group-statistics.ts'

/** The same numbers in every run of the test. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1103515245 + 12345) % 2 ** 31
    return state / 2 ** 31
  }
}

const random = createRandom(7)
const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T // within the list
const rarely = (mark: string) => (random() < 0.2 ? [mark] : [])

function makeRollout(): RolloutSummary {
  const marks = [...rarely('s'), ...rarely('m'), ...rarely('t')]
  const length = random() < 0.1 ? null : Math.floor(random() * 3000)
  if (random() < 0.1) return [null, null, length, null, marks]
  const score = pick([0, 0.01, 0.3, 0.5, 1])
  const error = score === 0 ? rarely(pick(FormatFault.options)) : []
  return [score - random() / 7, score, length, length, [...marks, ...error]]
}

const GROUPS: GroupSummary[] = Array.from({ length: 40 }, (_, k) => {
  const rollouts = Array.from({ length: 8 }, makeRollout)
  return {
    id: `g${k}`,
    task: pick(['gcd', 'leg_counting', 'sudoku']),
    difficulty: null,
    scored: rollouts.filter(([reward]) => reward !== null).length,
    policy_version: pick([null, 3, 4, 5]),
    signal: random() < 0.7,
    rollouts,
  }
})
const ROLLOUTS = GROUPS.flatMap(({ rollouts }) => rollouts)
const SCORED = ROLLOUTS.filter(([reward]) => reward !== null)

const total = (values: number[]) => values.reduce((sum, value) => sum + value, 0)
const average = (values: number[]) => total(values) / values.length
const rewardsOf = (rollouts: RolloutSummary[]) => rollouts.flatMap(([reward]) => reward ?? [])
const shareWith = (mark: string) => ROLLOUTS.filter(([, , , , marks]) => marks.includes(mark)).length / ROLLOUTS.length

/** What a logger is given, one definition after another: without sums. */
function computeDirectly(): Record<string, number> {
  const rewards = rewardsOf(ROLLOUTS)
  const scores = SCORED.map(([, score]) => score ?? 0)
  const lengths = ROLLOUTS.flatMap(([, , length]) => length ?? [])
  const tasks = [...new Set(GROUPS.map(({ task }) => task))]
  return {
    'reward/mean': average(rewards),
    'reward/std': Math.sqrt(average(rewards.map((reward) => (reward - average(rewards)) ** 2))),
    'score/mean': average(scores),
    'score/frac_correct': scores.filter((score) => score >= 0.5).length / scores.length,
    ...computePassAtKByBruteForce(),
    'signal/frac': GROUPS.filter(({ signal }) => signal).length / GROUPS.length,
    'length/mean': average(lengths),
    'length/p95': lengths.toSorted((a, b) => a - b)[Math.ceil(lengths.length * 0.95) - 1] ?? 0,
    'truncated/frac': shareWith('t'),
    'skipped/frac': shareWith('s'),
    'masked/frac': shareWith('m'),
    'unscored/frac': 1 - SCORED.length / ROLLOUTS.length,
    ...Object.fromEntries(FormatFault.options.map((code) => [`fault/${code}`, shareWith(code)])),
    ...Object.fromEntries(
      tasks.map((task) => {
        const ofTask = GROUPS.filter((group) => group.task === task).flatMap(({ rollouts }) => rollouts)
        return [`task/${task}/reward`, average(rewardsOf(ofTask))]
      }),
    ),
  }
}

/** Each way to draw k of a group's scored rollouts, one after another. */
function computePassAtKByBruteForce(): Record<string, number> {
  const outcomes = GROUPS.map(({ rollouts }) =>
    rollouts.filter(([reward]) => reward !== null).map(([, score]) => (score ?? 0) >= 0.5),
  )
  return Object.fromEntries(
    [2, 4, 8].map((k) => {
      const shares = outcomes
        .filter((group) => group.length >= k)
        .map((group) => average(listDraws(group, k).map((draw) => (draw.includes(true) ? 1 : 0))))
      return [`pass_at/${k}`, average(shares)]
    }),
  )
}

function listDraws<T>(values: T[], k: number): T[][] {
  const [first, ...rest] = values
  if (k === 0) return [[]]
  if (first === undefined) return []
  return [...listDraws(rest, k - 1).map((draw) => [first, ...draw]), ...listDraws(rest, k)]
}

const RESULT: GroupResult = { status: 'scored', verdicts: [], signal: true, destination: 'buffered', voters: 1 }

/** As Redis does: field by field, one group after another. */
function addUp(all: StatisticSums[]): StatisticSums {
  const sums: StatisticSums = {}
  for (const part of all) for (const [field, amount] of Object.entries(part)) sums[field] = (sums[field] ?? 0) + amount
  return sums
}

const DIRECT = computeDirectly()
const BUCKETED = 'length/p95'

describe('the same groups give the same statistics', () => {
  it('as a batch: every metric is exact', () => {
    const batch: StoredBatch = {
      step: 5,
      policy_version: 5,
      balance: 'tokens',
      groups: GROUPS,
    } as StoredBatch // no other field is read
    const metrics = computeBatchMetrics(batch)
    for (const [name, value] of Object.entries(DIRECT)) expect([name, metrics[name]]).toEqual([name, closeTo(value)])
    expect(metrics['reward/mean']).toBe(DIRECT['reward/mean'])
    expect(metrics['reward/std']).toBe(DIRECT['reward/std'])
    expect(metrics[BUCKETED]).toBe(DIRECT[BUCKETED])
  })

  it('as a step, group after group: every metric is exact, but the percentile is known within 5%', () => {
    const metrics = computeStepMetrics(
      { step: 5 },
      divideSums(addUp(GROUPS.map((group) => buildGroupSums(group, RESULT)))),
    )
    for (const [name, value] of Object.entries(DIRECT))
      if (name !== BUCKETED) expect([name, metrics[name]]).toEqual([name, closeTo(value)])
    expect(metrics).toMatchObject({ step: 5, groups: GROUPS.length, rollouts: ROLLOUTS.length })
    expect(Math.abs((metrics[BUCKETED] ?? 0) / (DIRECT[BUCKETED] ?? 1) - 1)).toBeLessThan(0.05)
  })

  it('as a task: the skipped rollouts are counted apart, to leave them out of the score', () => {
    const groups = GROUPS.filter(({ task }) => task === 'gcd')
    const sums = addUp(groups.map((group) => buildGroupSums(group, RESULT)))
    const scored = groups.flatMap(({ rollouts }) => rollouts).filter(([reward]) => reward !== null)
    const counted = scored.filter(([, , , , marks]) => !marks.includes('s'))
    expect(sums).toMatchObject({
      groups: groups.length,
      scored: scored.length,
      skipped_scored: scored.length - counted.length,
      reward: closeTo(total(rewardsOf(scored))),
    })
    const score = total(counted.map(([, one]) => one ?? 0))
    expect((sums.score ?? 0) - (sums.skipped_score ?? 0)).toBeCloseTo(score, 9)
  })
})

it('format faults are counted by their code', () => {
  const counts = parseFormatFaultCounts(sumGroups(GROUPS))
  for (const [code, count] of Object.entries(counts)) expect(count / ROLLOUTS.length).toBe(DIRECT[`fault/${code}`])
  expect(Object.keys(counts).length).toBeGreaterThan(2)
})

function closeTo(value: number): unknown {
  return expect.closeTo(value, 9)
}
