/** Policies that earn by luck, lose their format or ramble are named, and honest ones are not. */

import { seededRandom } from '@reasoning-gym-server/task-tools/seeded-random'
import { expect, it } from 'vitest'
import { countAnswers } from '../../../../src/features/rollouts/group-counters.ts'
import { diagnose } from '../../../../src/features/runs/diagnosis/diagnosis.ts'
import { type GroupOutcome, OUTCOME_WINDOW } from '../../../../src/features/runs/diagnosis/group-outcome.ts'
import { listTrendWarnings } from '../../../../src/features/runs/diagnosis/trend-warnings.ts'

const ROLLOUTS = 8
const NOTHING = { count: 0, sum: 0 }

interface Policy {
  floor: number
  /** Score of an answer in the right format. */
  score: number
  /** How much items differ in it. */
  spread?: number
  formatAt?: (group: number) => number
  lengthAt?: (group: number) => number
  difficultyAt?: (group: number) => number
}

function play(policy: Policy, group: number, random: () => number): GroupOutcome {
  const { floor, score, spread = 0, formatAt = () => 1, lengthAt } = policy
  const success = Math.min(1, Math.max(0, score + spread * (2 * random() - 1)))
  const formatted = Array.from({ length: ROLLOUTS }, () => random() < formatAt(group))
  const scores = formatted.map((isFormatted) => Number(isFormatted && random() < success))
  const right = scores.reduce((sum, one) => sum + one, 0)
  return {
    completedAt: group,
    kind: right === 0 ? 'hard' : right === ROLLOUTS ? 'easy' : 'signal',
    question: group,
    scored: ROLLOUTS,
    answers: formatted.filter(Boolean).length,
    distinct: 2,
    entropy: 1,
    counts: [],
    shown: '',
    meanScore: right / ROLLOUTS,
    guessFloor: floor,
    meanLength: lengthAt?.(group) ?? null,
    difficulty: policy.difficultyAt?.(group) ?? null,
    hackGap: NOTHING,
    permuted: NOTHING,
  }
}

/** Plays a run, looks after every group, and returns the first group with a warning of each kind. */
function findWarnings(policy: Policy, groups: number, seed: number): Record<string, number> {
  const random = seededRandom(seed)
  const window: GroupOutcome[] = []
  const found: Record<string, number> = {}
  for (let group = 1; group <= groups; group++) {
    window.push(play(policy, group, random))
    for (const { kind } of listTrendWarnings('task', window.slice(-OUTCOME_WINDOW))) found[kind] ??= group
  }
  return found
}

it.each<[string, Policy]>([
  ['a coin flip', { floor: 0.57, score: 0.52 }],
  ['a coin flip on even answers', { floor: 0.5, score: 0.5 }],
  ['random letters', { floor: 0.22, score: 0.17 }],
])('signal without lift of %s is named within 40 groups', (_, policy) => {
  const named = Array.from({ length: 40 }, (_unused, seed) => findWarnings(policy, 40, seed).signal_without_lift)
  expect(named.filter((group) => group !== undefined).length).toBeGreaterThanOrEqual(24)
})

it.each<[string, Policy]>([
  ['right in 0.35 beyond guessing', { floor: 0.5, score: 0.675, spread: 0.3 }],
  ['right in 0.35 of small answers', { floor: 0.2, score: 0.4, spread: 0.3 }],
  ['right in 0.35 of yes/no, and wrong in the others', { floor: 0.6, score: 0.35, spread: 0.3 }],
  ['at the frontier of a task that guessing hardly pays', { floor: 0.12, score: 0.3, spread: 0.25 }],
  ['half without the format, at first and later', { floor: 0, score: 0.8, formatAt: () => 0.5 }],
  ['half without the format', { floor: 0.4, score: 0.65, spread: 0.2, formatAt: () => 0.5 }],
  ['never in the format, and of no length', { floor: 0.4, score: 0.5, formatAt: () => 0, lengthAt: () => 0 }],
  ['nearly always right', { floor: 0.5, score: 0.9, spread: 0.1, lengthAt: (group) => 200 + 3 * group }],
])('an honest policy gets no warning in 150 groups: %s', (_, policy) => {
  const runs = Array.from({ length: 50 }, (_unused, seed) => findWarnings(policy, 150, 100 + seed))
  expect(runs.filter((found) => Object.keys(found).length > 0).length).toBeLessThanOrEqual(1)
})

it('a format that gets lost, and completions that grow many times over, are named', () => {
  const losing = findWarnings({ floor: 0, score: 0.6, formatAt: (group) => 0.6 - 0.0053 * group }, 100, 1)
  expect(losing.format_loss).toBeLessThan(100)
  const rambling = findWarnings({ floor: 0, score: 0.6, lengthAt: (group) => 20 * 150 ** (group / 100) }, 100, 1)
  expect(rambling.length_growth).toBeLessThan(50)
})

it('completions that grow with the difficulty of the items do not ramble, and those that grow beyond it do', () => {
  const difficultyAt = (group: number) => 0.3 + 0.006 * group
  const longer = (group: number) => 20 * 150 ** difficultyAt(group)
  const learning = { floor: 0, score: 0.6, difficultyAt, lengthAt: longer }
  expect(findWarnings(learning, 100, 1).length_growth).toBeUndefined()
  const settled = (group: number) => Math.min(0.4, difficultyAt(group))
  const rambling = { ...learning, difficultyAt: settled, lengthAt: (group: number) => 20 * 150 ** (group / 100) }
  expect(findWarnings(rambling, 100, 1).length_growth).toBeLessThan(70)
  const easier = { ...rambling, difficultyAt: (group: number) => 0.9 - 0.008 * group }
  expect(findWarnings(easier, 100, 1).length_growth).toBeLessThan(60)
})

it('lift is at least −1 and has the standard error of the mean over groups', () => {
  const random = seededRandom(5)
  const outcomes = Array.from({ length: 50 }, (_, group) => play({ floor: 0.5, score: 0.7 }, group, random))
  const { lift, lift_stderr } = diagnose(outcomes)
  expect(Math.abs((lift ?? 0) - 0.4)).toBeLessThan(3 * (lift_stderr ?? 0))
  expect(lift_stderr).toBeCloseTo(Math.sqrt((0.7 * 0.3) / 8 / 50) / 0.5, 1)
  expect(diagnose([play({ floor: 0.965, score: 0 }, 1, random)])).toMatchObject({ lift: -1, lift_stderr: null })
})

it('answers that differ in case, space or punctuation count as one', () => {
  const about = {
    status: 'scored',
    reward: 0,
    score: 0,
    fault: null,
    components: { correct: 0, format: 1, length_penalty: 0, try_discount: 0 },
    advantage: 0,
  } as const
  const counted = countAnswers([' Yes ', 'yes', 'YES', 'Yes.', '"yes"', 'No'].map((answer) => ({ ...about, answer })))
  expect(counted).toMatchObject({ distinct: 2, shown: ' Yes ' })
  expect(counted.counts.map(({ count }) => count)).toEqual([5, 1])
})
