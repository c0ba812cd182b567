/** The engine of the tests of corrections: one worker, with deadlines for a busy machine. */
import { inject } from 'vitest'
import { PythonEngine } from '../../../src/engine/python-engine.ts'

export async function openEngine(): Promise<PythonEngine> {
  const engine = new PythonEngine({
    pythonPath: inject('python'),
    librarySocket: inject('librarySocket'),
    workersPerPool: 1,
    scoreDeadlineMs: 20_000,
    makeDeadlineMs: 20_000,
  })
  await engine.waitUntilStarted()
  return engine
}
