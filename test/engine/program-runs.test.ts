/** Runs of an item's own program on the inputs that a model predicts, in the sandbox of the workers that make items. */
import type { DatasetEntry } from '@reasoning-gym-server/scorers/scorer'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import type { Engine, EngineOutcome, GeneratedItem } from '../../src/engine/engine.ts'
import { PythonEngine } from '../../src/engine/python-engine.ts'
import { LibraryScorer } from '../../src/grading/library-scorer.ts'
import { needsRun, scoreByRun } from '../../src/grading/program-runs.ts'
import { ScorerThreadPool } from '../../src/grading/scorer-thread-pool.ts'
import { EventLoopBudget } from '../../src/platform/event-loop-budget.ts'

/** The program counts the ways to fill a row of a length, 50 where none is given. */
const SEED = 24
const KEY = '{"length": 50}'

const threadPool = new ScorerThreadPool(1, 2000)
let engine: PythonEngine
let entry: DatasetEntry
beforeAll(async () => {
  engine = new PythonEngine({
    pythonPath: inject('python'),
    librarySocket: inject('librarySocket'),
    workersPerPool: 1,
    scoreDeadlineMs: 5000,
    makeDeadlineMs: 20_000,
  })
  await engine.waitUntilStarted()
  const [made] = await engine.generateItems('codeio', {}, [[SEED, 0]])
  if (made?.kind !== 'value') throw new Error(`not made: ${JSON.stringify(made)}`)
  entry = (made.value as GeneratedItem).entry // engines give what they made
})
afterAll(async () => {
  await Promise.all([engine.close(), threadPool.close()])
})

it('says whether the program gives the output of the item', async () => {
  const inputs = [KEY, '{"length": 49}', '{"length": "50"}', '{"width": 50}', '[50]', '{"length": 50']
  const outcomes = await engine.runProgram('codeio', {}, SEED, entry, inputs)
  expect(outcomes).toEqual(inputs.map((input) => ({ kind: 'value', value: input === KEY })))
})

it('a program that does not end is killed, and what comes after it runs', async () => {
  const inputs = ['{"length": 3000000000}', KEY]
  const [endless, right] = await engine.runProgram('codeio', {}, SEED, entry, inputs)
  expect([endless, right]).toMatchObject([
    { kind: 'lost', reason: expect.stringMatching(/^(timeout|starved)$/) }, // the second on a machine that has more to do
    { kind: 'value', value: true },
  ])
})

it('a program that cannot be loaded is no fault of the answer', async () => {
  const metadata = { ...(entry.metadata as object), source_index: 'none' }
  const [outcome] = await scoreByRun(engine, { config: {}, seed: SEED }, { ...entry, metadata }, ['{"length": 51}'])
  expect(outcome).toMatchObject({ kind: 'lost', reason: 'crashed' })
})

it.each<[what: string, outcome: EngineOutcome, score: EngineOutcome]>([
  ['the output', { kind: 'value', value: true }, { kind: 'value', value: 1 }],
  ['another output', { kind: 'value', value: false }, { kind: 'value', value: 0 }],
  ['no end', { kind: 'lost', reason: 'timeout', detail: '' }, { kind: 'value', value: 0 }],
  ['a busy machine', { kind: 'lost', reason: 'starved', detail: '' }, { kind: 'lost', reason: 'starved', detail: '' }],
  [
    'no engine',
    { kind: 'lost', reason: 'unavailable', detail: '' },
    { kind: 'lost', reason: 'unavailable', detail: '' },
  ],
])('scores %s', async (_, outcome, score) => {
  const asked: string[][] = []
  const runProgram = async (...[, , , , inputs]: Parameters<Engine['runProgram']>) => {
    asked.push(inputs)
    return inputs.map(() => outcome)
  }
  const texts = ['{"length": 51}', ' {"length": 51}\n', '{"lengths": 51}', '{}', 'none']
  const scores = await scoreByRun({ runProgram } as unknown as Engine, { config: {}, seed: 1 }, entry, texts) // all that it asks of it
  const wrong = { kind: 'value', value: 0 }
  expect([asked, scores]).toEqual([[['{"length": 51}']], [score, score, wrong, wrong, wrong]])
})

it('hardened scoring pays other inputs, runs each once, and leaves the score of the library as it is', async () => {
  const load = async () => ({ entry, config: {} })
  const scorer = new LibraryScorer(load, engine, threadPool, new EventLoopBudget())
  const recipe = { task: 'codeio', config: {}, difficulty: null, seed: SEED, index: 0, engine: engine.version }
  const score = (mode: 'upstream' | 'hardened') => scorer.score(recipe, [KEY, '{"length": 50.0}'], mode, true)
  const runs = engine.pythonWorkers().items.ends
  expect(await score('hardened')).toMatchObject([{ score: 1 }, { score: 0 }])
  expect(await score('upstream')).toMatchObject([{ score: 1 }, { score: 1 }])
  expect(await score('hardened')).toMatchObject([{ score: 1 }, { score: 0 }])
  expect(engine.pythonWorkers().items.ends).toEqual(runs)
})

it.each([
  ['return eval(text)', false],
  ['return sympy.sympify(text)', false],
  ['re.compile(text)', true],
  ['ast.literal_eval(text)', true],
])('runs no program that would run its input as code: %s', (line, runs) => {
  const question = `${entry.question}\n    ${line}`
  expect(needsRun('codeio', { ...entry, question })).toBe(runs)
})
