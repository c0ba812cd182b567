import { expect, it } from 'vitest'
import { countAnswers } from '../../../../src/features/rollouts/group-counters.ts'
import {
  diagnose,
  explainMissingSignal,
  listWarnings,
  mergeWindows,
} from '../../../../src/features/runs/diagnosis/diagnosis.ts'
import {
  type GroupOutcome,
  OUTCOME_BYTES,
  OUTCOME_WINDOW,
  packOutcome,
  unpackOutcome,
  unpackWindows,
} from '../../../../src/features/runs/diagnosis/group-outcome.ts'

const NOTHING = { count: 0, sum: 0 }
let clock = 0

/** A group on a question of its own whose rollouts give these answers; null is a format fault. */
function outcome(answers: (string | null)[], fields: Partial<GroupOutcome> = {}): GroupOutcome {
  const about = {
    status: 'scored',
    reward: 0,
    score: 0,
    fault: null,
    components: { correct: 0, format: 1, length_penalty: 0, try_discount: 0 },
    advantage: 0,
  } as const
  clock++
  return {
    completedAt: clock,
    kind: 'signal',
    question: clock,
    ...countAnswers(answers.map((answer) => ({ ...about, answer }))),
    meanScore: 0,
    guessFloor: 0,
    meanLength: null,
    difficulty: null,
    hackGap: NOTHING,
    permuted: NOTHING,
    ...fields,
  }
}

const repeat = <T>(count: number, make: (k: number) => T) => Array.from({ length: count }, (_, k) => make(k))
const upstream = { scoring: 'upstream' } as const

it('an outcome is kept as it was, in a record of fixed size', () => {
  const controls = { hackGap: { count: 3, sum: 1.5 }, permuted: { count: 65_535, sum: 0.25 } }
  const wide = outcome(
    repeat(1024, (k) => `answer ${k % 700} 😀😀😀😀😀😀😀😀`),
    { meanScore: 0.5, ...controls },
  )
  const empty = outcome([null, null], { kind: 'hard', meanScore: null })
  const packed = packOutcome(wide)
  expect(packed.length).toBe(OUTCOME_BYTES)
  expect(unpackOutcome(packed)).toEqual({
    ...wide,
    shown: 'answer 0 😀😀😀😀',
    entropy: expect.closeTo(wide.entropy, 5),
  })
  expect(unpackOutcome(packOutcome(empty))).toEqual({ ...empty, entropy: 0 })
  expect(unpackOutcome(packed.subarray(1))).toBeUndefined() // of another version
})

it('a window is a ring that is read oldest first', () => {
  const outcomes = repeat(OUTCOME_WINDOW + 7, () => outcome(['x']))
  const fields = (count: number) => ({
    gcd: Buffer.from(String(count)),
    ...Object.fromEntries(
      outcomes.slice(0, count).map((one, k) => [`gcd:${(k + 1) % OUTCOME_WINDOW}`, packOutcome(one)]),
    ),
  })
  const read = (count: number) => unpackWindows(fields(count)).gcd?.map(({ completedAt }) => completedAt)
  const timesOf = (from: number, to: number) => outcomes.slice(from, to).map(({ completedAt }) => completedAt)
  expect(read(3)).toEqual(timesOf(0, 3))
  expect(read(OUTCOME_WINDOW)).toEqual(timesOf(0, OUTCOME_WINDOW))
  expect(read(OUTCOME_WINDOW + 7)).toEqual(timesOf(7, OUTCOME_WINDOW + 7))
})

it('entropy is that of the answers: within groups, and over questions', () => {
  const groups = [outcome(['a', 'a', 'b', 'b']), outcome(['c', 'c', 'c', 'c']), outcome(['d', 'd', null, null])]
  const { group_entropy, answer_entropy, constant_groups, top_answer, groups: count } = diagnose(groups)
  expect(group_entropy).toBeCloseTo(1 / 3)
  expect(answer_entropy).toBeCloseTo(-(0.4 * Math.log2(0.4) + 3 * 0.2 * Math.log2(0.2)))
  expect(constant_groups).toBeCloseTo(1 / 3) // format faults differ from an answer
  expect(top_answer).toEqual({ text: 'c', share: 0.4 })
  expect(count).toBe(3)
  expect(diagnose([outcome(repeat(8, String))]).answer_entropy).toBeCloseTo(3) // beyond the answers that are counted by hash
})

it('groups on one question count once where answers are compared over questions', () => {
  const same = repeat(30, () => outcome(['1', '1'], { question: 7, meanScore: 0.1, guessFloor: 0.1 }))
  expect(diagnose(same)).toMatchObject({ groups: 30, questions: 1, top_answer: { text: '1', share: 1 } })
  expect(listWarnings({ gcd: same }, upstream)).toEqual([])
})

it('lift is 0 at the guess floor and 1 where all is right, and unknown where guessing earns all', () => {
  const lift = (meanScore: number | null, guessFloor: number | null) =>
    diagnose([outcome(['x'], { meanScore, guessFloor })]).lift
  expect([lift(0.7, 0.7), lift(1, 0.7), lift(0.35, 0.7), lift(1, 1), lift(null, 0.5), lift(1, null)]).toEqual([
    0,
    1,
    -1, // at least
    null,
    null,
    null,
  ])
})

it('a policy that says Yes to everything has collapsed, and its tasks are not too easy', () => {
  const syllogism = repeat(31, (k) =>
    outcome(
      repeat(16, () => 'Yes'),
      { kind: k % 10 < 7 ? 'easy' : 'hard', meanScore: k % 10 < 7 ? 1 : 0, guessFloor: 0.71 },
    ),
  )
  expect(explainMissingSignal({ syllogism }, 31)).toBe(
    '31 groups of syllogism, on 31 different questions, all answer "Yes": the policy has collapsed onto the most common answer (mean score 0.71, guess floor 0.71)',
  )
  const [warning] = listWarnings({ syllogism }, upstream)
  expect(warning).toMatchObject({ kind: 'collapsed', task: 'syllogism', why: expect.stringContaining('"Yes"') })
})

it('a policy that is right on every question has not, though each group has one answer', () => {
  const right = { kind: 'easy', meanScore: 1, guessFloor: 0.71 } as const
  const various = repeat(31, (k) =>
    outcome(
      repeat(16, () => String(k)),
      { ...right, guessFloor: 0.1 },
    ),
  )
  const binary = repeat(31, () =>
    outcome(
      repeat(16, () => 'Yes'),
      right,
    ),
  ) // by chance, or on a rung with one answer
  for (const outcomes of [various, binary]) {
    expect(explainMissingSignal({ task: outcomes }, 31)).toBe(
      'in all of them, every rollout is correct: the tasks are too easy',
    )
    expect(listWarnings({ task: outcomes }, upstream)).toEqual([])
  }
})

it('reasons are those of the last groups, not of the run', () => {
  const task = [
    ...repeat(20, () => outcome(['x', 'y'], { kind: 'hard' })),
    outcome(['x', 'y'], { meanScore: 0.5 }),
    ...repeat(12, (k) => outcome([`${k}`, `${k}`], { kind: 'easy', meanScore: 1 })),
  ]
  expect(explainMissingSignal({ task }, 12)).toContain('too easy')
  expect(explainMissingSignal({ task: task.slice(0, 20) }, 20)).toContain('too hard')
  const mixed = { easy: task.slice(21, 26), hard: task.slice(0, 10) }
  expect(explainMissingSignal(mixed, 80)).toBe(
    'in 10 of the last 15, every rollout is wrong: the tasks are too hard, or the answers miss the format',
  )
  expect(explainMissingSignal({}, 12)).toBe('all rewards in a group are equal')
})

it('the window of a run holds its last groups, whatever their tasks', () => {
  const merged = mergeWindows({ a: repeat(40, () => outcome(['1'])), b: repeat(40, () => outcome(['2'])) })
  expect(merged).toHaveLength(OUTCOME_WINDOW)
  expect(merged.map(({ completedAt }) => completedAt)).toEqual(repeat(OUTCOME_WINDOW, (k) => clock - 49 + k))
})

it('controls warn from 12 answers on, and the hack gap only where it is paid', () => {
  const kinds = (fields: Partial<GroupOutcome>, groups: number, scoring: 'upstream' | 'hardened' = 'upstream') =>
    listWarnings({ t: repeat(groups, (k) => outcome([`${k}`], fields)) }, { scoring }).map(({ kind }) => kind)
  const gap = { meanScore: 0.6, hackGap: { count: 1, sum: 0.4 } }
  expect([kinds(gap, 12), kinds(gap, 11), kinds(gap, 50, 'hardened')]).toEqual([['hack_gap'], [], []])
  const permuted = { meanScore: 0.6, guessFloor: 0.1, permuted: { count: 1, sum: 0.5 } }
  expect([kinds(permuted, 12), kinds(permuted, 11)]).toEqual([['permuted'], []])
  expect(kinds({ ...permuted, guessFloor: 0.5 }, 50)).toEqual([]) // as much as guessing earns
  expect(kinds({ ...permuted, guessFloor: null }, 50)).toEqual([]) // a yes/no task, for all that is known
  expect(kinds({ ...permuted, meanScore: 1, guessFloor: 1, permuted: { count: 1, sum: 1 } }, 50)).toEqual(['permuted'])
})
