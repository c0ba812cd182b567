import type { Recipe } from '@reasoning-gym-server/contract/recipe'
import { expect, it } from 'vitest'
import { type AuditInput, AuditScoring } from '../../../src/features/rollouts/audit-scoring.ts'

const NOTHING = { hackGap: { count: 0, sum: 0 }, permuted: { count: 0, sum: 0 } }

/** A group of one task of a run; its rollouts score 1. */
function groupOf(k: number, fields: Partial<AuditInput> = {}): AuditInput {
  const recipe: Recipe = { task: 'gcd', seed: k, index: 0, engine: '1', difficulty: null, config: {} }
  const verdict = {
    status: 'scored',
    reward: 1,
    score: 1,
    answer: 'x',
    fault: null,
    components: { correct: 1, format: 1, length_penalty: 0, try_discount: 0 },
    advantage: 0,
  } as const
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

type Grader = ConstructorParameters<typeof AuditScoring>[0]['grader']
const native: Grader = {
  isNative: () => true,
  loadRule: async () => {},
  scoreCached: ({ seed }, answers, { scoring }) => answers.map(() => (scoring === 'hardened' ? 0.25 : seed / 10)),
  scoreInLibrary: () => Promise.reject(new Error('not of the library')),
}

it('checks an answer in the other mode and on an earlier item with another question', async () => {
  const audits = new AuditScoring({ grader: native })
  await audits.check(groupOf(1))
  expect(audits.take('r', 1, 'gcd')).toEqual({ hackGap: { count: 1, sum: 0.75 }, permuted: { count: 0, sum: 0 } })
  await audits.check(groupOf(2, { question: 1 })) // the same question as before
  expect(audits.take('r', 1, 'gcd').permuted).toEqual({ count: 0, sum: 0 })
  await audits.check(groupOf(3))
  expect(audits.take('r', 1, 'gcd')).toEqual({ hackGap: { count: 1, sum: 0.75 }, permuted: { count: 1, sum: 0.1 } })
  expect(audits.take('r', 1, 'gcd')).toEqual(NOTHING) // each result is taken once
})

it('keeps runs, epochs, tasks and configs apart', async () => {
  const audits = new AuditScoring({ grader: native })
  await audits.check(groupOf(1))
  const others = [
    groupOf(2, { run: 'other' }),
    groupOf(3, { epoch: 2 }),
    groupOf(4, { recipe: { ...groupOf(4).recipe, config: { max_value: 9 } } }),
  ]
  for (const other of others) {
    audits.take(other.run, other.epoch, 'gcd')
    await audits.check(other)
    expect(audits.take(other.run, other.epoch, 'gcd').permuted.count).toBe(0)
  }
})

it('a grader that fails, or an item that is no longer cached, leaves the sample out', async () => {
  const fail = () => {
    throw new Error('broken')
  }
  for (const scoreCached of [() => undefined, fail]) {
    const audits = new AuditScoring({ grader: { ...native, scoreCached } })
    for (const k of [1, 2]) await audits.check(groupOf(k))
    expect(audits.take('r', 1, 'gcd')).toEqual(NOTHING)
  }
  const throwing = new AuditScoring({ grader: { ...native, isNative: fail } })
  await throwing.check(groupOf(1))
  const down = new AuditScoring({ grader: { ...native, isNative: () => false } })
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
  const audits = new AuditScoring({ grader })
  await Promise.all([1, 2, 3, 4].map((k) => audits.check(groupOf(k))))
  expect([asked, mostRunning]).toEqual([1, 1])
  await audits.check(groupOf(5, { gradingMs: 1000 }))
  expect(asked).toBe(1)
  for (let k = 6; k < 300; k++) await audits.check(groupOf(k))
  expect(asked).toBeLessThan(150) // each takes 5 ms, and 300 groups of 1 ms earn 6 ms beside what a process begins with
})

it('closes only when the library has answered', async () => {
  const { promise, resolve } = Promise.withResolvers<number[]>()
  const audits = new AuditScoring({ grader: { ...native, isNative: () => false, scoreInLibrary: () => promise } })
  void audits.check(groupOf(1))
  let isClosed = false
  const closing = audits.close().then(() => {
    isClosed = true
  })
  await new Promise((done) => setTimeout(done, 20))
  expect(isClosed).toBe(false)
  resolve([0.25])
  await closing
  expect(audits.take('r', 1, 'gcd').hackGap).toEqual({ count: 1, sum: 0.75 })
})

it('the work of a process earns the time of native audits', async () => {
  let busyMs = 0
  const slow: Grader = {
    ...native,
    scoreCached(_recipe, answers) {
      for (const end = performance.now() + 20; performance.now() < end; );
      return answers.map(() => 1)
    },
  }
  const audits = new AuditScoring({ grader: slow, measureBusyMs: () => busyMs })
  const countChecked = async (groups: number) => {
    audits.take('r', 1, 'gcd')
    for (let k = 0; k < groups; k++) await audits.check(groupOf(k))
    return audits.take('r', 1, 'gcd').hackGap.count
  }
  await countChecked(20) // spends what a process begins with
  expect(await countChecked(5)).toBe(0)
  busyMs = 1e6
  expect(await countChecked(5)).toBe(5)
})
