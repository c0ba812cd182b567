import { afterAll, expect, it } from 'vitest'
import type { Engine, EngineOutcome } from '../../src/engine/engine.ts'
import { LibraryScorer } from '../../src/grading/library-scorer.ts'
import { ScorerThreadPool } from '../../src/grading/scorer-thread-pool.ts'
import { EventLoopBudget } from '../../src/platform/event-loop-budget.ts'

const threadPool = new ScorerThreadPool(1, 2000)
afterAll(() => threadPool.close())

const recipe = { task: 'simple_integration', config: {}, difficulty: null, seed: 1, index: 0, engine: '0.1.25' }
const facts = async () => ({ entry: { question: '', answer: 'x', metadata: {} }, config: {} })

/** An engine that tells what it was asked for; "lost" is never scored. */
function engineOf(asked: string[][]): Engine {
  const score = async (_task: string, _config: object, _seed: number, _entry: object, answers: string[]) => {
    asked.push(answers)
    return answers.map(
      (answer): EngineOutcome =>
        answer === 'lost'
          ? { kind: 'lost', reason: 'timeout', detail: 'late' }
          : { kind: 'value', value: answer.length },
    )
  }
  return { score, tasks: async () => ({}) } as unknown as Engine // all that scoring asks of it
}

it('an answer asked twice for one item is one computation, also in another call and under another difficulty', async () => {
  const asked: string[][] = []
  const hosts = new LibraryScorer(facts, engineOf(asked), threadPool, new EventLoopBudget())
  const scores = [1, 2].map((score) => ({ kind: 'score', score }))
  expect(await hosts.score(recipe, ['a', 'bb'], 'upstream', false)).toEqual(scores)
  expect(await hosts.score({ ...recipe, difficulty: 0.5 }, ['a', 'ccc', 'bb'], 'upstream', false)).toEqual([
    scores[0],
    { kind: 'score', score: 3 },
    scores[1],
  ])
  expect(asked).toEqual([['a', 'bb'], ['ccc']])
})

it('another item is another answer, and what was lost is asked for again', async () => {
  const asked: string[][] = []
  const hosts = new LibraryScorer(facts, engineOf(asked), threadPool, new EventLoopBudget())
  for (const index of [0, 1, 1]) await hosts.score({ ...recipe, index }, ['a', 'lost'], 'upstream', false)
  expect(asked).toEqual([['a', 'lost'], ['a', 'lost'], ['lost']])
})

it('lets the event loop turn while it rejects long answers without the library', async () => {
  const asked: string[][] = []
  const facts = async () => ({
    entry: { question: '', answer: 'x**2', metadata: { integrand: '2*x', variable: 'x' } },
    config: {},
  })
  const hosts = new LibraryScorer(facts, engineOf(asked), threadPool, new EventLoopBudget())
  const sum = Array.from({ length: 180 }, (_, k) => `sin(${k}*x)`).join(' + ')
  const answers = Array.from({ length: 80 }, (_, k) => `${sum} + ${k}`) // a few milliseconds each
  let turns = 0
  const count = () => {
    turns++
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  const results = await hosts.score(recipe, answers, 'upstream', false)
  clearImmediate(next)
  expect(results).toEqual(answers.map(() => ({ kind: 'score', score: 0 })))
  expect(asked).toEqual([])
  expect(turns).toBeGreaterThan(3)
})
