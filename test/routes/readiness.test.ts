import { afterAll, beforeAll, expect, it } from 'vitest'
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
  for (const said of Object.values(ready.body.engine.layers)) expect(said).toMatch(/^on$|\w+Error: ./)
  expect(ready.body.engine.layers.limits).toBe('on')
})
