import { NATIVE_TASKS, PARTIAL_SCORERS } from '@reasoning-gym-server/scorers/native-scorers'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { PythonEngine } from '../../src/engine/python-engine.ts'
import { Ladders } from '../../src/features/tasks/ladders.ts'
import { compareTask } from '../../verification/differential/compare.ts'

const SEED = Math.floor(Math.random() * 1e9)
const ANSWERS = 24
/** At the defaults and at two rungs of the ladder, other ones for each task and seed; `npm run verify -- differential` has them all. */
const ITEMS = 3

let engine: PythonEngine
const ladders = new Ladders()
beforeAll(async () => {
  engine = new PythonEngine({
    pythonPath: inject('python'),
    librarySocket: inject('librarySocket'),
    workersPerPool: 1, // each creates the dataset of every config anew
    scoreDeadlineMs: 2000,
    makeDeadlineMs: 10_000,
  })
  await engine.waitUntilStarted()
})
afterAll(() => engine.close())

it.each([...NATIVE_TASKS, ...Object.keys(PARTIAL_SCORERS)].map((task, k) => [task, k] as const))(
  '%s is scored as by the library',
  async (task, k) => {
    const { differences } = await compareTask(engine, ladders, task, ANSWERS, SEED + k, ITEMS)
    expect(differences, `seed ${SEED + k}`).toEqual([])
  },
  300_000, // integrals, on a busy machine
)
