/** What only a cluster can get wrong: keys of many slots, and a master that dies. Run by `npm run test:cluster`. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { runSlot } from '../../src/features/runs/records.ts'
import { listMasters } from '../../src/platform/redis/cluster.ts'
import { type RedisCluster, startRedisCluster } from '../../verification/support/redis-cluster.ts'
import { keysOf, openWorld, until, type World } from '../world.ts'

let cluster: RedisCluster
let world: World
beforeAll(async () => {
  cluster = await startRedisCluster(inject('redisBinary'))
  world = await openWorld({ worker: true, redisUrl: cluster.url })
})
afterAll(async () => {
  await world.close()
  await cluster.stop()
})

const RUNS = Array.from({ length: 12 }, (_, k) => `run-${k}`)

async function post(run: string, group: string) {
  const { body } = await world.call('POST', '/items', { task: 'gcd', seed: 1 })
  const rollouts = [{ completion: 'x' }, { completion: '<answer>1</answer>' }]
  return world.call(
    'POST',
    '/rollouts',
    { run, item_id: body.items[0].id, group_id: group, rollouts },
    { prefer: 'wait=30' },
  )
}

const held = (run: string) => keysOf(world.platform.redis, `${runSlot(world.platform.keys, run)}:*`)

describe('a Redis Cluster of three masters', () => {
  it('scores groups of runs that lie on every master', async () => {
    await Promise.all(RUNS.map((run) => world.call('PUT', `/runs/${run}`, {})))
    const answers = await Promise.all(RUNS.map((run) => post(run, 'g')))
    expect(answers.map(({ body }) => body.status)).toEqual(RUNS.map(() => 'scored'))
    const sizes = await Promise.all(listMasters(world.platform.redis).map((node) => node.dbsize()))
    expect(sizes.every((keys) => keys > 0)).toBe(true)
    expect((await world.call('GET', '/runs')).body.runs).toHaveLength(RUNS.length)
  })

  it('forgets a run wherever it lies', async () => {
    for (const run of RUNS.slice(6)) {
      expect((await held(run)).length).toBeGreaterThan(0)
      expect((await world.call('DELETE', `/runs/${run}`)).status).toBe(204)
      await until(
        () => held(run),
        (keys) => keys.length === 0,
      )
    }
  })

  it('is not ready while one master takes no writes', async () => {
    for (const master of listMasters(world.platform.redis)) {
      await master.config('SET', 'maxmemory', '1')
      const refused = await until(
        () => world.call('GET', '/readyz'),
        ({ status }) => status === 503,
      )
      expect(refused.body.redis.detail).toMatch(/takes no writes: OOM/)
      await master.config('SET', 'maxmemory', '0')
      await until(
        () => world.call('GET', '/readyz'),
        ({ status }) => status === 200,
      )
    }
  })

  it('keeps what was accepted over the crash of each master, says meanwhile that it is away, and goes on', async () => {
    const before = await Promise.all(RUNS.slice(0, 6).map((run) => world.call('GET', `/rollouts/g?run=${run}`)))
    for (let master = 0; master < 3; master++) {
      const back = cluster.crashMaster(master)
      await until(
        async () => (await world.call('GET', '/readyz')).status,
        (status) => status === 503,
      )
      await back
      await until(
        async () => (await world.call('GET', '/readyz')).status,
        (status) => status === 200,
      )
      const group = `after-${master}`
      for (const run of RUNS.slice(0, 6)) {
        await until(
          async () => (await post(run, group)).body.status,
          (status) => status === 'scored',
          60_000,
        )
      }
    }
    const after = await Promise.all(RUNS.slice(0, 6).map((run) => world.call('GET', `/rollouts/g?run=${run}`)))
    expect(after.map(({ body }) => body)).toEqual(before.map(({ body }) => body))
    const runs = await Promise.all(RUNS.slice(0, 6).map((run) => world.call('GET', `/runs/${run}`)))
    for (const { body } of runs) expect(body.progress).toMatchObject({ groups: 4, scored_groups: 4, queued_groups: 0 })
  }, 180_000)
})
