import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openWorld, until, type World } from '../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

it('says which walls stand around the hosts', async () => {
  const ready = await until(
    () => world.call('GET', '/readyz'),
    ({ body }) => Object.keys(body.engine.layers).length > 0,
  )
  expect(ready.status).toBe(200)
  // What refused a layer differs by platform; that it is told does not.
  for (const layer of Object.values(ready.body.engine.layers)) expect(layer).toMatch(/^on$|\w+Error: ./)
  expect(ready.body.engine.layers.limits).toBe('on')
})

it('says when to ask again, also while the library is starting', async () => {
  const health = vi.spyOn(world.engine, 'health')
  try {
    health.mockReturnValue({ ok: false, detail: 'the library is starting' })
    const { status, headers } = await world.call('GET', '/readyz')
    expect([status, headers['retry-after']]).toEqual([503, '2'])
  } finally {
    health.mockRestore()
  }
  const { status, headers } = await world.call('GET', '/readyz')
  expect([status, headers['retry-after']]).toEqual([200, undefined])
})

it('is not ready before the tasks are loaded, and loads them again itself', async () => {
  const { tasks } = world.features
  const loading = vi.spyOn(tasks.tasks, 'loadRegistry')
  const isLoaded = vi.spyOn(tasks.tasks, 'isLoaded', 'get').mockReturnValue(false)
  try {
    const { status, body } = await world.call('GET', '/readyz')
    expect([status, body.engine]).toMatchObject([503, { ok: false, detail: expect.stringContaining('being loaded') }])
    expect(loading).toHaveBeenCalled()
  } finally {
    isLoaded.mockRestore()
    loading.mockRestore()
  }
  expect((await world.call('GET', '/readyz')).status).toBe(200)
})
