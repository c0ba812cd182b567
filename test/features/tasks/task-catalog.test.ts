import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { expect, it } from 'vitest'
import type { TaskDefinition } from '../../../src/engine/engine.ts'
import { Ladders } from '../../../src/features/tasks/ladders.ts'
import { TASK_NAMES, TaskCatalog } from '../../../src/features/tasks/task-catalog.ts'

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
  generateItems = async () => []
  score = async () => []
  health = () => ({ ok: this.ok })
  tasks = async () => {
    if (!this.answers) throw new ServiceError('engine_unavailable', 'busy')
    return REGISTRY
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
