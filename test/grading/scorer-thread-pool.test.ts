import { setImmediate } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { ScorerThreadPool } from '../../src/grading/scorer-thread-pool.ts'
import type { RuleSpec } from '../../src/grading/scoring-rule.ts'

const open: ScorerThreadPool[] = []
function threads(most = 2, deadlineMs = 10_000): ScorerThreadPool {
  const opened = new ScorerThreadPool(most, deadlineMs)
  open.push(opened)
  return opened
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((opened) => opened.close()))
})

const parts = (task: string, answer: string, metadata: unknown = {}, config = {}): RuleSpec => ({
  task,
  entry: { question: '', answer, metadata },
  config,
  mode: 'upstream',
})

it('scores on other threads as on this one', async () => {
  const pool = threads()
  const answers = Array.from({ length: 40 }, (_, k) => String(k))
  const scorings = await Promise.all(answers.map((answer) => pool.score(parts('chain_sum', '7'), answer)))
  expect(scorings.flatMap((scoring, k) => (scoring.kind === 'score' && scoring.score === 1 ? [k] : []))).toEqual([7])
})

it('tells an answer on which the library raises from a rule that breaks', async () => {
  const pool = threads()
  const raised = await pool.score(parts('prime_factorization', '2 × 2', { number: 4, factors: [2, 2] }), 'x')
  expect(raised).toEqual({ kind: 'raised' })
  expect(await pool.score(parts('no_such_task', '1'), '1')).toMatchObject({ kind: 'failed', code: 'scorer_crashed' })
  expect(await pool.score(parts('chain_sum', '1'), '1')).toEqual({ kind: 'score', score: 1 }) // and goes on
})

it('ends a rule that is past its deadline, and scores the others', async () => {
  const pool = threads(1, 500)
  const long = "R U R' ".repeat(2_000_000) // takes more than a second on a fast machine; more would pass the memory of a thread
  const cube = parts('rubiks_cube', '', { cube_size: 7, scramble_moves: 'R U' })
  const [stuck, fine] = await Promise.all([pool.score(cube, long), pool.score(parts('chain_sum', '1'), '1')])
  expect(stuck).toMatchObject({ kind: 'failed', code: 'scorer_timeout' })
  expect([fine, await pool.score(parts('chain_sum', '1'), '1')].filter(({ kind }) => kind === 'failed')).toEqual([])
})

it('a result that comes while its thread is being ended counts, and who waits is scored by another', async () => {
  const pool = threads(1, 2000)
  const ask = (answer: string) => pool.score(parts('chain_sum', '1'), answer)
  expect(await ask('1')).toEqual({ kind: 'score', score: 1 })
  const scorings = ['1', '1', '1'].map(ask)
  await setImmediate() // timers come next, before what the thread says
  const busy = performance.now() + 3000
  while (performance.now() < busy); // the thread has long answered when the deadline is looked at
  expect(await Promise.all(scorings)).toEqual(Array(3).fill({ kind: 'score', score: 1 }))
})

it('settles what waits when it closes', async () => {
  const pool = threads(1)
  const waiting = [1, 2, 3].map((k) => pool.score(parts('chain_sum', '1'), String(k)))
  await pool.close()
  const scorings = await Promise.all([...waiting, pool.score(parts('chain_sum', '1'), '1')])
  for (const scoring of scorings.slice(1)) expect(scoring).toMatchObject({ kind: 'failed' })
})
