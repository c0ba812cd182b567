import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Ladders } from '../../../src/features/tasks/ladders.ts'
import { TaskCards } from '../../../src/features/tasks/task-cards.ts'
import { openWorld, type World } from '../../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

it('the built-in list is the registry’s', async () => {
  const builtIn = JSON.parse(readFileSync(new URL('../../../src/features/tasks/tasks.json', import.meta.url), 'utf8'))
  const registry = await world.engine.tasks()
  expect(Object.keys(builtIn)).toEqual(Object.keys(registry))
  for (const [task, { category }] of Object.entries(registry))
    expect([task, builtIn[task].category]).toEqual([task, category])
})

it('GET /tasks lists what the running library registers, and says so', async () => {
  const { body } = await world.call('GET', '/tasks')
  const registry = await world.engine.tasks()
  expect(body).toMatchObject({ source: 'registry', total: Object.keys(registry).length })
  for (const { name, category } of body.tasks) expect([name, category]).toEqual([name, registry[name]?.category])
})

it('GET /tasks/{task} has the card of the defaults and one for each rung of the ladder', async () => {
  const { body } = await world.call('GET', '/tasks/gcd')
  const cards = new TaskCards(new Ladders())
  expect(body.card).toMatchObject({ engine_version: cards.engineVersion, defaults: cards.defaults('gcd') })
  expect(body.card.rungs).toEqual(body.ladder.map((_: unknown, k: number) => cards.rung('gcd', k) ?? null))
  expect(body.card.defaults).toMatchObject({ guess_floor: { hardened: expect.any(Number) } })
})
