import type { Recipe } from '@reasoning-gym-server/contract/recipe'
import { expect, it } from 'vitest'
import { type ControlInput, ScoreControls } from '../../../src/features/rollouts/score-controls.ts'

const NOTHING = { hackGap: { count: 0, sum: 0 }, permuted: { count: 0, sum: 0 } }

/** A group of one task of a run; its rollouts score 1. */
function groupOf(k: number, fields: Partial<ControlInput> = {}): ControlInput {
  const recipe: Recipe = { task: 'gcd', seed: k, index: 0, engine: '1', difficulty: null, config: {} }
  const verdict = { status: 'scored', reward: 1, score: 1, answer: 'x', fault: null, penalty: 0, advantage: 0 } as const
  const rules = { scoring: 'upstream', dual_format: false } as const
  return {
    run: 'r',
    epoch: 1,
    group: `g${k}`,
    recipe,
    question: k,
    rules,
    verdicts: [verdict],
    gradingMs: 1,
    ...fields,
  }
}

type Grader = ConstructorParameters<typeof ScoreControls>[0]['grader']
const native: Grader = {
  isNative: () => true,
  scoreCached: ({ seed }, answers, { scoring }) => answers.map(() => (scoring === 'hardened' ? 0.25 : seed / 10)),
  scoreInLibrary: () => Promise.reject(new Error('not of the library')),
}

it('checks an answer in the other mode and on an earlier item with another question', async () => {
  const controls = new ScoreControls({ grader: native })
  await controls.check(groupOf(1))
  expect(controls.take('r', 1, 'gcd')).toEqual({ hackGap: { count: 1, sum: 0.75 }, permuted: { count: 0, sum: 0 } })
  await controls.check(groupOf(2, { question: 1 })) // the same question as before
  expect(controls.take('r', 1, 'gcd').permuted).toEqual({ count: 0, sum: 0 })
  await controls.check(groupOf(3))
  expect(controls.take('r', 1, 'gcd')).toEqual({ hackGap: { count: 1, sum: 0.75 }, permuted: { count: 1, sum: 0.1 } })
  expect(controls.take('r', 1, 'gcd')).toEqual(NOTHING) // each result is taken once
})

it('keeps runs, epochs, tasks and configs apart', async () => {
  const controls = new ScoreControls({ grader: native })
  await controls.check(groupOf(1))
  const others = [
    groupOf(2, { run: 'other' }),
    groupOf(3, { epoch: 2 }),
    groupOf(4, { recipe: { ...groupOf(4).recipe, config: { max_value: 9 } } }),
  ]
  for (const other of others) {
    controls.take(other.run, other.epoch, 'gcd')
    await controls.check(other)
    expect(controls.take(other.run, other.epoch, 'gcd').permuted.count).toBe(0)
  }
})

it('a grader that fails, or an item that is no longer cached, leaves the sample out', async () => {
  const fail = () => {
    throw new Error('broken')
  }
  for (const scoreCached of [() => undefined, fail]) {
    const controls = new ScoreControls({ grader: { ...native, scoreCached } })
    for (const k of [1, 2]) await controls.check(groupOf(k))
    expect(controls.take('r', 1, 'gcd')).toEqual(NOTHING)
  }
  const throwing = new ScoreControls({ grader: { ...native, isNative: fail } })
  await throwing.check(groupOf(1))
  const down = new ScoreControls({ grader: { ...native, isNative: () => false } })
  for (const k of [1, 2]) await down.check(groupOf(k))
  expect(down.take('r', 1, 'gcd')).toEqual(NOTHING)
})

it('the library is asked for one group at a time, not for slow ones, and within its share of the time', async () => {
  let [asked, running, mostRunning] = [0, 0, 0]
  const grader: Grader = {
    ...native,
    isNative: () => false,
    async scoreInLibrary(_recipe, answers) {
      asked++
      mostRunning = Math.max(mostRunning, ++running)
      await new Promise((resolve) => setTimeout(resolve, 5))
      running--
      return answers.map(() => 1)
    },
  }
  const controls = new ScoreControls({ grader })
  await Promise.all([1, 2, 3, 4].map((k) => controls.check(groupOf(k))))
  expect([asked, mostRunning]).toEqual([1, 1])
  await controls.check(groupOf(5, { gradingMs: 1000 }))
  expect(asked).toBe(1)
  for (let k = 6; k < 300; k++) await controls.check(groupOf(k))
  expect(asked).toBeLessThan(150) // each takes 5 ms, and 300 groups of 1 ms earn 6 ms beside what a process begins with
})

it('the work of a process earns the time of native controls', async () => {
  let busyMs = 0
  const slow: Grader = {
    ...native,
    scoreCached(_recipe, answers) {
      for (const end = performance.now() + 20; performance.now() < end; );
      return answers.map(() => 1)
    },
  }
  const controls = new ScoreControls({ grader: slow, measureBusyMs: () => busyMs })
  const countChecked = async (groups: number) => {
    controls.take('r', 1, 'gcd')
    for (let k = 0; k < groups; k++) await controls.check(groupOf(k))
    return controls.take('r', 1, 'gcd').hackGap.count
  }
  await countChecked(20) // spends what a process begins with
  expect(await countChecked(5)).toBe(0)
  busyMs = 1e6
  expect(await countChecked(5)).toBe(5)
})
