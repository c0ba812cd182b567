/** The server under Sentinel: a replica takes over, and the runs go on. Run by `npm run test:cluster`. */
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { connectForRequests, connectForWorkers, waitUntilReady } from '../../src/platform/redis/connect.ts'
import { type SentinelSetup, startSentinel } from '../../verification/support/redis-sentinel.ts'
import { openWorld, until, type World } from '../world.ts'

const CONNECTION_COUNT = 20

let setup: SentinelSetup
let world: World
beforeAll(async () => {
  setup = await startSentinel(inject('redisBinary'))
  world = await openWorld({ worker: true, redisUrl: setup.url })
  await world.call('PUT', '/runs/sentinel', {})
})
afterAll(async () => {
  await world.close()
  await setup.stop()
})

async function post(group: string) {
  const { body } = await world.call('POST', '/items', { task: 'gcd', seed: 1 })
  const rollouts = [{ completion: 'x' }, { completion: '<answer>1</answer>' }]
  const given = { run: 'sentinel', item_id: body.items[0].id, group_id: group, rollouts }
  return (await world.call('POST', '/rollouts', given, { prefer: 'wait=10' })).body
}

describe('a failover', () => {
  let connections: Redis[]
  beforeAll(async () => {
    connections = Array.from({ length: CONNECTION_COUNT }, (_, k) =>
      (k % 2 === 0 ? connectForRequests : connectForWorkers)({ url: setup.url, prefix: 'sentinel' }),
    )
    await Promise.all(connections.map((redis) => waitUntilReady(redis, 10_000)))
  })
  afterAll(() => {
    for (const redis of connections) redis.disconnect()
  })

  it.each(['failOver', 'hangMaster'] as const)(
    'takes every connection along to the new master: %s',
    async (how) => {
      await setup[how]()
      const writes = connections.map((redis, k) =>
        until(
          () => redis.set(`sentinel:${how}:${k}`, k).catch((error: Error) => `${redis.status}: ${error.message}`),
          (reply) => reply === 'OK',
        ),
      )
      expect(await Promise.all(writes)).toEqual(connections.map(() => 'OK'))
      await setup.recover()
    },
    60_000,
  )
})

it('goes on with the replica when the master dies', async () => {
  const before = await post('before')
  expect(before.status).toBe('scored')
  await setup.failOver()
  await until(
    async () => (await post('after')).status,
    (status) => status === 'scored',
    60_000,
  )
  expect((await world.call('GET', '/rollouts/before?run=sentinel')).body).toEqual(before)
  expect((await world.call('GET', '/runs/sentinel')).body.progress).toMatchObject({ groups: 2, scored_groups: 2 })
}, 120_000)
