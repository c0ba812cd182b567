/** No native rule takes long, whatever the answer holds. `npm run verify -- scoring-cost` measures them all; here a sample with a wide margin. */

import { NATIVE_TASKS, PARTIAL_SCORERS } from '@reasoning-gym-server/scorers/native-scorers'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { PythonEngine } from '../../src/engine/python-engine.ts'
import { Ladders } from '../../src/features/tasks/ladders.ts'
import { measureTaskCost } from '../../verification/scoring-cost/measure.ts'
import { openWorld } from '../world.ts'

/** The bound is 20 ms on a machine with nothing else to do; a rule that grows by the square takes minutes. */
const MARGIN_MS = 1000
const SIZE = 65_536

let engine: PythonEngine
beforeAll(async () => {
  engine = new PythonEngine({
    pythonPath: inject('python'),
    librarySocket: inject('librarySocket'),
    workersPerPool: 1,
    scoreDeadlineMs: 2000,
    makeDeadlineMs: 20_000,
  })
  await engine.waitUntilStarted()
})
afterAll(() => engine.close())

const TASKS = [...NATIVE_TASKS, ...Object.keys(PARTIAL_SCORERS)].map((task, k) => [task, k] as const)
it.each(TASKS)('%s is scored in time, whatever the answer holds', { timeout: 120_000 }, async (task, k) => {
  // One answer in 28, others for each task; together they are all there. Every second task has its hardest item.
  const sample = { difficulties: [k % 2 ? 1 : null], oneIn: 28, from: (3 * task.length) % 28 }
  const costs = await measureTaskCost(engine, new Ladders(), task, SIZE, 1, sample)
  expect(costs.length).toBeGreaterThan(0)
  for (const { ms, answer, mode } of costs) expect(ms, `${mode}: ${answer}`).toBeLessThan(MARGIN_MS)
})

it('an answer of a megabyte, brackets 100,000 deep and numbers of 100,000 digits are too long', async () => {
  const world = await openWorld()
  try {
    const texts = ['x'.repeat(1_000_000), `${'['.repeat(100_000)}${']'.repeat(100_000)}`, '9'.repeat(100_000)]
    for (const answer of texts) {
      const body = { rollouts: [{ recipe: { task: 'gcd', seed: 1 }, answer }] }
      const { verdicts } = (await world.call('POST', '/score', body)).body
      expect(verdicts[0]).toMatchObject({ status: 'scored', score: 0, fault: 'answer_too_long' })
    }
  } finally {
    await world.close()
  }
})
