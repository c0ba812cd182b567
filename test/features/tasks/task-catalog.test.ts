import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { expect, it } from 'vitest'
import type { EngineOutcome, TaskDefinition } from '../../../src/engine/engine.ts'
import { TASK_NAMES } from '../../../src/features/tasks/built-in-tasks.ts'
import { Ladders } from '../../../src/features/tasks/ladders.ts'
import { TaskCatalog } from '../../../src/features/tasks/task-catalog.ts'

const definition = (category: string): TaskDefinition => ({
  category,
  config_schema: { type: 'object', properties: { size: { default: 3 } } },
})

/** A library that registers one task less and one more than the built-in list. */
const REGISTRY = {
  ...Object.fromEntries(TASK_NAMES.filter((name) => name !== 'gcd').map((name) => [name, definition('games')])),
  stacking: definition('robotics'),
}

class EngineStub {
  ok = false
  answers = true
  taskProblems = []
  registry: Record<string, TaskDefinition> = REGISTRY
  generateItems = async (): Promise<EngineOutcome[]> => []
  score = async () => []
  health = () => ({ ok: this.ok })
  tasks = async () => {
    if (!this.answers) throw new ServiceError('engine_unavailable', 'busy')
    return this.registry
  }
}

function openCatalog() {
  const engine = new EngineStub()
  return { engine, catalog: new TaskCatalog(engine, new Ladders()) }
}

it('lists the built-in tasks until the library is running', async () => {
  const { catalog } = openCatalog()
  await catalog.loadRegistry()
  expect(catalog.source).toBe('fallback')
  expect(catalog.list().map(({ name }) => name)).toEqual(TASK_NAMES)
  expect(await catalog.getDefinition('gcd')).toBeUndefined()
})

it('lists exactly what the running library registers', async () => {
  const { engine, catalog } = openCatalog()
  engine.ok = true
  expect(catalog.source).toBe('fallback') // the library runs, but the list is not its own yet
  await catalog.loadRegistry()
  expect(catalog.source).toBe('registry')
  expect(catalog.list().map(({ name }) => name)).toEqual(Object.keys(REGISTRY))
  expect(() => catalog.require('gcd')).toThrow(expect.objectContaining({ code: 'unknown_task' }))
  expect(() => catalog.assertKnown('category:arithmetic')).toThrow(expect.objectContaining({ code: 'unknown_task' }))
  expect(catalog.require('stacking')).toEqual({
    name: 'stacking',
    code_hash: null,
    description: null,
    category: 'robotics',
    credit: 'continuous',
    scorer: 'library',
    adjustable: false,
    rungs: 1,
    public_benchmark: null,
    shortcut: null,
  })
  expect(catalog.require('chain_sum')).toMatchObject({ category: 'games', credit: 'partial', adjustable: true })
  expect(await catalog.getDefinition('stacking')).toEqual(REGISTRY.stacking)
})

it('asks again where the library could not answer, and keeps its list while the library is down', async () => {
  const { engine, catalog } = openCatalog()
  Object.assign(engine, { ok: true, answers: false })
  await catalog.loadRegistry()
  expect(catalog.source).toBe('fallback')
  engine.answers = true
  expect(await catalog.getDefinition('stacking')).toBeDefined()
  expect(catalog.source).toBe('registry')
  engine.ok = false
  await catalog.loadRegistry()
  expect(catalog.source).toBe('fallback')
  expect(catalog.require('stacking').category).toBe('robotics')
})

it('is loaded once the ladders of custom tasks are verified, and verifies them again where the engine was away', async () => {
  const { engine, catalog } = openCatalog()
  const custom = {
    file: 'own.py',
    code_hash: 'abc',
    scorer: null,
    explains: false,
    ladder: [{}, { size: 4 }],
    no_ladder_reason: null,
  }
  engine.ok = true
  engine.registry = { ...REGISTRY, own: { ...definition('custom'), custom } }
  const lost = (reason: 'unavailable' | 'timeout') => async (): Promise<EngineOutcome[]> => [
    { kind: 'lost', reason, detail: 'gone' },
  ]
  engine.generateItems = lost('unavailable')
  await catalog.loadRegistry()
  expect(catalog.isLoaded).toBe(false)
  expect(() => catalog.require('own')).toThrow(expect.objectContaining({ code: 'engine_unavailable' }))
  const verification = Promise.withResolvers<EngineOutcome[]>()
  engine.generateItems = () => verification.promise
  const loading = catalog.loadRegistry()
  expect(catalog.isLoaded).toBe(false)
  verification.resolve(await lost('timeout')())
  await loading
  expect(catalog.isLoaded).toBe(true) // without that ladder
  expect(catalog.require('own')).toMatchObject({ adjustable: false })
})
