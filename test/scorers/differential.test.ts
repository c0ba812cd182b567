import { NATIVE_TASKS } from '@reasoning-gym-server/scorers/native-scorers'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { PythonEngine } from '../../src/engine/python-engine.ts'
import { Ladders } from '../../src/features/tasks/ladders.ts'
import { compareTask } from '../../verification/differential/compare.ts'

const SEED = Math.floor(Math.random() * 1e9)
const ANSWERS = 25

let engine: PythonEngine
const ladders = new Ladders()
beforeAll(async () => {
  engine = new PythonEngine({
    pythonPath: inject('warmPython'),
    workersPerPool: 2,
    scoreDeadlineMs: 2000,
    makeDeadlineMs: 10_000,
  })
  await engine.waitUntilStarted()
})
afterAll(() => engine.close())

it.each([...NATIVE_TASKS])('%s is scored as by the library', { timeout: 60_000 }, async (task) => {
  const { differences } = await compareTask(engine, ladders, task, ANSWERS, SEED)
  expect(differences, `seed ${SEED}`).toEqual([])
})
