import { afterAll, beforeAll, expect, it } from 'vitest'
import { Grader } from '../../src/grading/grader.ts'
import { ScorerThreadPool } from '../../src/grading/scorer-thread-pool.ts'
import { openWorld, type World } from '../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ SCORE_DEADLINE_MS: 20_000 }) // the machine may have more to do
})
afterAll(() => world.close())

const score = async (task: string, answers: string[], scoring: string) => {
  const rollouts = answers.map((answer) => ({ recipe: { task, seed: 7 }, answer }))
  return (await world.call('POST', '/score', { rollouts, scoring, dual_format: false })).body.verdicts
}

it('hardens what the Python hosts score, too', async () => {
  const { items } = (await world.call('POST', '/items', { task: 'simple_integration', seed: 7 })).body
  const { answer } = (await world.call('GET', `/items/${items[0].id}?reveal=true`)).body
  const wrapped = `$${answer}$`
  const [upstream] = await score('simple_integration', [wrapped], 'upstream')
  expect(upstream.score).toBeLessThan(1)
  const hardened = await score('simple_integration', [wrapped, answer, 'x +', '0'], 'hardened')
  expect(hardened.map((verdict: { score: number }) => verdict.score)).toEqual([1, 1, 0, 0])
})

it('gives a long answer on a thread the verdict that a short one has', async () => {
  const pad = ' '.repeat(5000)
  const [short, long] = await score('spiral_matrix', ['1 2 3', `1 2 3${pad}`], 'upstream')
  expect({ ...long, answer: '' }).toEqual({ ...short, answer: '' })
})

it('lets the event loop turn while it grades the answers to many items', async () => {
  const threadPool = new ScorerThreadPool(1, 1000)
  const grader = new Grader({
    engine: world.engine,
    loadEntry: async () => ({ question: '', answer: null, metadata: { cube_size: 3, scramble_moves: "R U F2 L'" } }),
    loadQuestion: async () => '',
    statistics: { recordScoredRollouts() {}, recordScorerCalls() {} },
    threadPool,
    maxAnswerChars: 65_536,
  })
  const rules = { extraction: 'strict', dual_format: false, scoring: 'upstream' } as const
  const output = { kind: 'answer', answer: 'R U F2 '.repeat(140) } as const
  const recipe = { task: 'rubiks_cube', index: 0, engine: '', difficulty: null, config: {} }
  const gradeAll = () =>
    Promise.all(Array.from({ length: 5000 }, (_, seed) => grader.grade({ ...recipe, seed }, [output], rules)))
  await gradeAll() // the rules are cached from here on
  let turns = 0
  const count = () => {
    turns++
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  await gradeAll()
  clearImmediate(next)
  expect(turns).toBeGreaterThan(3)
  await threadPool.close()
})
