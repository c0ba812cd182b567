import { expect, it } from 'vitest'
import { evalFacts, intervals, runComparison, sorting } from './pure.ts'

const anEval = (fields: object) => ({
  id: 'eval-0123456789ab',
  status: 'done',
  model: { name: 'mock' },
  suite: { name: 'smoke' },
  run: null,
  step: null,
  labels: [],
  progress: { done: 20, total: 20, failed: 0 },
  difficulty_at_half: null,
  result: null,
  ...fields,
})

it('an interval is placed around 0 and stays on its axis', () => {
  const { placeInterval, chooseLimit } = intervals
  expect(placeInterval({ difference: 0, confidence_95: [-0.1, 0.1] }, 0.2)).toEqual({ at: 50, from: 25, to: 75 })
  expect(placeInterval({ difference: 0.9, confidence_95: [0.7, 1.08] }, 1)).toEqual({ at: 95, from: 85, to: 100 })
  expect(placeInterval({ difference: 0.5, confidence_95: null }, 1)).toEqual({ at: 75, from: null, to: null })
  expect(placeInterval({ difference: null, confidence_95: null }, 1)).toEqual({ at: null, from: null, to: null })
  expect(chooseLimit([{ difference: 0.01, confidence_95: [-0.02, 0.04] }])).toBe(0.05)
  expect(chooseLimit([{ difference: 0.1, confidence_95: [-0.3, 0.5] }])).toBe(0.5)
  expect(chooseLimit([{ difference: 0.9, confidence_95: [0.7, 1.08] }])).toBe(1)
  expect(chooseLimit([])).toBe(0.05)
})

it('a p-value without a test says too few items, and none reads 0.000 or 1.000', () => {
  expect([null, 0.0001, 0.0321, 0.9999].map(intervals.formatP)).toEqual(['too few items', '< 0.001', '0.032', '1'])
  expect(intervals.formatInterval({ difference: 0, confidence_95: null })).toBe('too few items')
})

it('rows without a value come last in both directions, and equal rows keep their order', () => {
  const rows = [{ n: 1 }, { n: null }, { n: 3 }, { n: 1 }]
  const columns = { n: (row: { n: number | null }) => row.n }
  expect(sorting.sortRows(rows, columns, 'n')).toEqual([{ n: 3 }, { n: 1 }, { n: 1 }, { n: null }])
  expect(sorting.sortRows(rows, columns, '-n')).toEqual([{ n: 1 }, { n: 1 }, { n: 3 }, { n: null }])
  expect(sorting.sortRows(rows, columns, 'constructor')).toEqual(rows)
  expect(sorting.nextOrder('n', 'n')).toBe('-n')
  expect(sorting.nextOrder('-n', 'n')).toBe('n')
})

it('the status of an eval tells what happened to its samples', () => {
  const { describeStatus } = evalFacts
  const progress = (done: number, failed: number) => ({ done, failed, total: 20 })
  expect(describeStatus({ status: 'queued', progress: progress(3, 0) }, { share: true })).toEqual({
    tone: 'accent',
    text: 'running, 15%',
  })
  expect(describeStatus({ status: 'queued', progress: progress(0, 0) }).text).toBe('queued')
  expect(describeStatus({ status: 'done', progress: progress(20, 0) })).toEqual({ tone: 'good', text: 'done' })
  expect(describeStatus({ status: 'done', progress: progress(20, 20) })).toEqual({
    tone: 'warn',
    text: 'done, 20 of 20 failed',
  })
  expect(describeStatus({ status: 'failed', progress: progress(1, 1) })).toEqual({ tone: 'bad', text: 'failed' })
})

it('evals are found by every word, whatever it names', () => {
  const evals = [
    anEval({ id: 'eval-1', labels: ['base'] }),
    anEval({ id: 'eval-2', run: 'first', labels: { lr: '1e-5' } }),
  ]
  const ids = (filter: object) => evalFacts.filterEvals(evals, filter).map(({ id }) => id)
  expect(ids({})).toEqual(['eval-1', 'eval-2'])
  expect(ids({ q: 'MOCK base' })).toEqual(['eval-1'])
  expect(ids({ label: 'lr=1e-5' })).toEqual(['eval-2'])
  expect(ids({ run: 'first', q: 'base' })).toEqual([])
})

it('a learning curve has a line for each model and suite, gaps, and the newest of a step', () => {
  const at = (step: number, mean_score: number, fields = {}) =>
    anEval({ run: 'r', step, result: { mean_score, confidence_95: [mean_score - 0.1, mean_score + 0.1] }, ...fields })
  const { x, lines } = evalFacts.buildEvalCurves([
    at(10, 0.6), // newest first, as the server lists them
    at(10, 0.5),
    at(0, 0.25, { suite: { name: 'full' } }),
    at(0, 0.3),
    at(5, 0.9, { difficulty_at_half: 0.4 }),
    anEval({ run: 'r' }),
  ])
  expect(x).toEqual([0, 10])
  expect(lines).toMatchObject([
    { name: 'smoke, mock', values: [0.3, 0.6] },
    { name: 'full, mock', values: [0.25, null], high: [0.35, null] },
  ])
  expect(evalFacts.buildEvalCurves([anEval({})])).toEqual({ x: [], lines: [] })
})

it('runs are aligned by step, with gaps where one has no value', () => {
  const reward = (step: { reward?: number }) => step.reward
  expect(
    runComparison.alignSteps(
      [
        [
          { step: 0, reward: 1 },
          { step: 2, reward: 3 },
        ],
        undefined,
        [{ step: 1 }, { time: 5, reward: 9 }],
      ],
      reward,
    ),
  ).toEqual({
    x: [0, 1, 2],
    values: [
      [1, null, 3],
      [null, null, null],
      [null, null, null],
    ],
  })
  expect(runComparison.sumFaults({ 'fault/no_answer': 0.1, 'fault/many_answers': 0.2, 'reward/mean': 1 })).toBeCloseTo(
    0.3,
  )
  expect(runComparison.sumFaults({ 'reward/mean': 1 })).toBeNull()
  expect(
    runComparison.listDifficulties([
      { step: 0, task: 'a', difficulty: 0.2 },
      { step: 0, task: 'b', difficulty: 0.4 },
      { step: 3, task: 'b', difficulty: 0.6 },
    ]),
  ).toEqual([
    { step: 0, difficulty: expect.closeTo(0.3) },
    { step: 3, difficulty: expect.closeTo(0.4) },
  ])
  expect(runComparison.parseRunNames('a,b,,a,c,d', 3)).toEqual(['a', 'b', 'c'])
})

it('a row of several steps has its value at each of them, so that runs of different lengths have values in common', () => {
  const wide = [
    { first_step: 0, step: 3, reward: 1 },
    { first_step: 8, step: 9, reward: 2 },
  ]
  const narrow = [0, 1, 4, 9].map((step) => ({ first_step: step, step, reward: step }))
  expect(runComparison.alignSteps([wide, narrow], (row: { reward: number }) => row.reward)).toEqual({
    x: [0, 1, 3, 4, 9],
    values: [
      [1, 1, 1, null, 2],
      [0, 1, null, 4, 9],
    ],
  })
})

it('the latest figures are of ten steps, and none beside those of a short run', () => {
  const rows = (count: number, width: number) =>
    Array.from({ length: count }, (_, k) => ({
      step: (k + 1) * width - 1,
      first_step: k * width,
      groups: 2,
      rollouts: 8,
      'reward/mean': k === count - 1 ? 1 : 0,
      'signal/frac': 0.25,
      'fault/no_answer': 0.5,
    }))
  expect(runComparison.summarizeLatest(rows(10, 1))).toBeUndefined()
  expect(runComparison.summarizeLatest(rows(30, 1))).toEqual({
    span: 'last 10 steps',
    reward: expect.closeTo(0.1),
    score: null,
    noSignal: 0.75,
    faults: 0.5,
  })
  expect(runComparison.summarizeLatest(rows(4, 16))).toMatchObject({ span: 'last 16 steps', reward: 1 })
  const blocks = [0.5, 0.75].map((reward, k) => ({ time: k, groups: 8, rollouts: 16, 'reward/mean': reward }))
  expect(runComparison.summarizeLatest(blocks)).toMatchObject({ span: 'last 8 groups', reward: 0.75 })
})

it('settings that differ come first; the order of names in a list does not count', () => {
  expect(
    runComparison.compareSettings([
      { seed: 1, tasks: ['a', 'b'], group_size: 8 },
      { seed: 1, tasks: ['b', 'a'], group_size: 16, extraction: 'tag' },
    ]),
  ).toEqual([
    { name: 'extraction', values: [undefined, 'tag'], differs: true },
    { name: 'group_size', values: ['8', '16'], differs: true },
    { name: 'seed', values: ['1', '1'], differs: false },
    { name: 'tasks', values: ['["a","b"]', '["a","b"]'], differs: false },
  ])
})

it('settings that the mode of a run ignores are left out', () => {
  const settings = { seed: 1, difficulty: 0, curriculum_target_accuracy: 0.7, curriculum_start: null }
  const listUsed = (mode: string, change = {}) =>
    Object.keys(runComparison.omitIgnoredSettings({ ...settings, complexity_mode: mode, ...change })).slice(1, -1)
  expect(listUsed('none')).toEqual([])
  expect(listUsed('fixed')).toEqual(['difficulty'])
  expect(listUsed('curriculum')).toEqual(['curriculum_target_accuracy'])
  expect(listUsed('frontier')).toEqual(['curriculum_start'])
  expect(listUsed('frontier', { curriculum_target_accuracy: 0.6 })).toEqual([
    'curriculum_target_accuracy',
    'curriculum_start',
  ])
})

it('tasks that one run lacks have no difference', () => {
  expect(
    runComparison.compareTasks(
      [{ a: { mean_score: 0.25 } }, { a: { mean_score: 0.75 }, b: { mean_score: 1 } }],
      'mean_score',
    ),
  ).toEqual([
    { task: 'a', values: [0.25, 0.75], difference: 0.5 },
    { task: 'b', values: [null, 1], difference: null },
  ])
})

it('runs that differ in the seed only are one line with a band, where all of them have a value', () => {
  const { groupBySeed, averageLines, nameSeeds } = runComparison
  const run = (name: string, settings: object) => ({ name, run: { settings } })
  const seeds = [1, 2].map((seed) => run(`a-${seed}`, { group_size: 8, seed }))
  const other = run('b', { group_size: 4, seed: 1 })
  const fork = run('a-fork', { group_size: 8, seed: 1 })
  expect(groupBySeed([...seeds, other])).toEqual([seeds, [other]])
  expect(groupBySeed([...seeds, fork])).toHaveLength(3)
  expect(nameSeeds(['clean-seed-1', 'clean-seed-2'])).toBe('clean, 2 seeds')
  expect(nameSeeds(['x', 'y'])).toBe('x, 2 seeds')
  expect(nameSeeds(['ppo', 'ppo-2'])).toBe('ppo, 2 seeds')
  expect(
    averageLines([
      [0.2, 0.4, 1],
      [0.4, 0.4, null],
    ]),
  ).toEqual({
    values: [expect.closeTo(0.3), 0.4, null],
    band: { low: [expect.closeTo(0.2), 0.4, null], high: [expect.closeTo(0.4), 0.4, null] },
  })
})
