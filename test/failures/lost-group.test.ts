/** Row of docs/operations/failures.md: a failover loses a group whose post still waits. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { keysOf, openWorld, until, type World } from '../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

it('lost while its post waits: 503, and the group that is posted again is new', async () => {
  const { body } = await world.call('POST', '/items', { task: 'gcd', seed: 1 })
  await world.call('PUT', '/runs/lost', {})
  const group = { run: 'lost', item_id: body.items[0].id, group_id: 'g', rollouts: [{ completion: 'x' }] }
  const post = (wait: string) => world.call('POST', '/rollouts', group, { prefer: wait })
  const answer = post('wait=20')
  const { redis } = world.platform
  const [key = ''] = await until(
    () => keysOf(redis, `*${world.prefix}:run:lost*:group:g`),
    (keys) => keys.length === 1,
  )
  await redis.del(key) // as if it had never reached the replica
  const refused = await answer
  expect(refused).toMatchObject({ status: 503, body: { code: 'redis_unavailable' } })
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  expect((await post('wait=0')).status).toBe(202)
})
