import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TaskValidation } from '@reasoning-gym-server/contract/validation'
import type { MakeScoredItems } from '@reasoning-gym-server/task-tools/engine'
import { measureTask } from '@reasoning-gym-server/task-tools/validation/measure'
import { buildTruthTable } from '@reasoning-gym-server/task-tools/validation/truth-table'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { z } from 'zod'
import { PythonEngine } from '../../../src/engine/python-engine.ts'
import { ENGINE_VERSION } from '../../../src/engine/version.ts'
import { TASK_NAMES } from '../../../src/features/tasks/built-in-tasks.ts'
import { Ladders } from '../../../src/features/tasks/ladders.ts'
import { hashConfig, TaskCards } from '../../../src/features/tasks/task-cards.ts'
import {
  buildRecordedValidation,
  getRecordedValidations,
  listRungs,
} from '../../../src/features/tasks/validation/recorded.ts'
import { makeHardenedItems } from '../../../src/grading/hardened-item.ts'
import { run } from '../../cli/command-line.ts'

const FLAWS = new URL('../../fixtures/flawed-tasks/flaws.py', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'rgs-validation-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ladders = new Ladders()
const recorded = getRecordedValidations()
const listConfigs = (task: string) => listRungs(ladders, task).map(({ config }) => config)

describe('the recorded figures', () => {
  it('of a task without a ladder are not added to the rung that it shares with others', () => {
    for (const rung of listRungs(ladders, 'no_ladder')) Object.assign(rung, { measured: 1 })
    expect(ladders.rungs('no_such_ladder')).toEqual([{ difficulty: 0, config: {} }])
  })

  it('are of this version of the library, and of the defaults and each rung: npm run validation measures them', () => {
    expect(recorded.engine).toBe(ENGINE_VERSION)
    const deps = { engine: { versionOf: () => ENGINE_VERSION }, ladders, cards: new TaskCards(ladders) }
    for (const task of TASK_NAMES) {
      const { report } = TaskValidation.parse(buildRecordedValidation(deps, task, 'hardened'))
      const pinned = report.results.find(({ check_id }) => check_id === 'static.task_distribution_pinning')?.measured
        .rungs
      const digest = expect.stringMatching(/^[0-9a-f]{8}$/)
      expect([task, pinned]).toEqual([task, listConfigs(task).map(() => expect.objectContaining({ digest }))])
    }
  })

  it('show verdicts that agree with the labels under hardened scoring, and where those of the library do not', () => {
    const j = (scoring: 'upstream' | 'hardened') =>
      TASK_NAMES.map((task) => {
        const measured = recorded.tasks[task]
        return [task, measured ? buildTruthTable(measured.truth, scoring).youden_j.value : -1] as const
      })
    expect(j('hardened').filter(([, value]) => value < 0.97)).toEqual([])
    expect(j('upstream').filter(([, value]) => value < 0.45)).toEqual([
      ['aiw', expect.any(Number)],
      ['game_of_life_halting', expect.any(Number)],
    ])
  })

  let engines: [PythonEngine, PythonEngine]
  beforeAll(async () => {
    const options = { pythonPath: inject('python'), workersPerPool: 1, scoreDeadlineMs: 20_000, makeDeadlineMs: 20_000 }
    engines = [new PythonEngine(options), new PythonEngine(options)]
    await Promise.all(engines.map((engine) => engine.waitUntilStarted()))
  })
  afterAll(() => Promise.all(engines.map((engine) => engine.close())))

  it.each(['gcd', 'game_of_life_halting'])('are what is measured now (%s)', async (task) => {
    const [engine, otherEngine] = engines
    const makeItems: MakeScoredItems = (...of) => makeHardenedItems(engine, ...of)
    const measured = await measureTask({ engine, otherEngine, makeItems, hashConfig }, task, listConfigs(task))
    const scores = { ...measured.scores, ms: expect.any(Number) }
    expect(recorded.tasks[task]).toEqual({ ...measured, scores })
  })
})

it('validate finds the one flaw of each custom task, and writes the report', async () => {
  const file = join(folder, 'report.json')
  const { code } = await run(['validate', '--path', FLAWS, '--scoring', 'upstream', '--report', file])
  const { validations } = z
    .strictObject({ validations: z.array(TaskValidation) })
    .parse(JSON.parse(readFileSync(file, 'utf8')))
  const failures = validations.map(({ task, report }) => [
    task,
    report.results.filter(({ status }) => status === 'fail').map(({ check_id }) => check_id),
  ])
  expect(Object.fromEntries(failures)).toEqual({
    flaw_none: [],
    flaw_leak: ['semantic.no_solution_leakage'],
    flaw_unstable: ['semantic.replayability'],
    flaw_generous: ['semantic.canary_floor'],
    flaw_unbounded: ['runtime.reward_well_formed'],
  })
  expect(code).toBe(1)
})
