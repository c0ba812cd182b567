import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRunKeys, runSlot } from '../../src/features/runs/records.ts'
import { RunRepository } from '../../src/features/runs/repository.ts'
import { type PrivateRedis, startPrivateRedis } from '../../src/main/bootstrap/redis/private-redis.ts'
import { keysOf, openWorld, takeItems, until, type World } from '../world.ts'

/** Together more than what the connections hold of what was sent last, which counts as used. */
const KEPT = Array.from({ length: 12 }, (_, k) => `g${k}`)
const folder = mkdtempSync(join(tmpdir(), 'rgs-full-'))
let redis: PrivateRedis
let world: World

beforeAll(async () => {
  redis = await startPrivateRedis(folder, () => {})
  world = await openWorld({ worker: true, redisUrl: redis.url })
})
afterAll(async () => {
  await world.close()
  await redis.stop()
  rmSync(folder, { recursive: true, force: true })
})

it('a Redis at its memory limit is 503 redis_full; batches still go out, and with space all goes on by itself', async () => {
  const { call, platform } = world
  const itemId = (await call('POST', '/items', { task: 'leg_counting', seed: 42 })).body.items[0].id
  const tokens = Array.from({ length: 40_000 }, () => Math.floor(Math.random() * 2 ** 31))
  const post = (group_id: string, prefer = '') => {
    const rollouts = [{ completion: '<answer>100</answer>', tokens }, { completion: 'x' }]
    return call('POST', '/rollouts', { run: 'full', item_id: itemId, group_id, rollouts }, { prefer })
  }
  await call('PUT', '/runs/full', { batch_size: 2 })
  await call('PUT', '/runs/idle', {})
  for (const id of KEPT) expect((await post(id, 'wait=20')).body.destination).toBe('buffered')
  await until(
    () => largestInput(platform.redis),
    (bytes) => bytes < 64 * 1024,
  )
  const used = Number(/used_memory:(\d+)/.exec(await platform.redis.info('memory'))?.[1])
  await platform.redis.config('SET', 'maxmemory', String(used))

  const refused = await post('late')
  expect([refused.status, refused.body.code]).toEqual([503, 'redis_full'])
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  expect((await call('GET', '/rollouts/late?run=full')).body.code).toBe('unknown_group')

  await platform.redis.config('SET', 'maxmemory', String(Math.floor(used * 0.9))) // certainly full
  const empty = await call('POST', '/runs/idle/batches', { step: 0, final: true })
  expect([empty.status, empty.body.totals?.groups]).toEqual([200, 0])
  expect((await call('POST', '/runs/idle/batches/0/ack')).body.acknowledged).toBe(true)
  await platform.redis.config('SET', 'maxmemory', String(used))

  // A trainer that takes what there is makes space, by ranks too.
  for (const [step, id] of KEPT.slice(0, -1).entries()) {
    const batch = await call('POST', '/runs/full/batches', { step })
    expect([batch.status, batch.body.groups[0]?.group_id]).toEqual([200, id])
    for (const rank of [0, 1])
      expect((await call('POST', `/runs/full/batches/${step}/ack`, { rank, ranks: 2 })).status).toBe(200)
  }
  const accepted = await until(
    () => post('late', 'wait=20'),
    ({ status }) => status === 200,
  )
  expect(accepted.body).toMatchObject({ status: 'scored', destination: 'buffered' })
  const { progress } = (await call('GET', '/runs/full')).body
  expect(progress).toMatchObject({ groups: 13, scored_groups: 13, buffered_groups: 2, queued_groups: 0 })
})

it('a run can be deleted from a full Redis, which has space again', async () => {
  const { call, platform } = world
  const { redis } = platform
  await redis.config('SET', 'maxmemory', '0')
  const made = await call('POST', '/items', { task: 'leg_counting', seed: 43 })
  const rollouts = [{ completion: 'x'.repeat(2 ** 20) }, { completion: '<answer>100</answer>' }]
  await call('PUT', '/runs/filled', { dump_rollouts: 'all' })
  const fill = (group_id: string) =>
    call('POST', '/rollouts', { run: 'filled', item_id: made.body.items[0].id, group_id, rollouts })
  for (let k = 0; k < 8; k++) expect((await fill(`f${k}`)).status).toBe(202)
  await until(
    () => call('GET', '/runs/filled'),
    ({ body }) => body.progress.dumps.rollouts.waiting > 0,
  )
  await redis.config('SET', 'maxmemory', '1mb')
  expect((await fill('late')).body.code).toBe('redis_full')
  expect((await call('DELETE', '/runs/filled')).status).toBe(204)
  expect((await call('GET', '/runs/filled')).status).toBe(404)
  await until(
    () => keysOf(redis, `${runSlot(platform.keys, 'filled')}:*`),
    (keys) => keys.length === 0,
  )
  await redis.config('SET', 'maxmemory', '0')
})

it.each(['none', 'frontier'])('items that are made still go out of a full Redis: complexity mode %s', async (mode) => {
  const { call, features, platform } = world
  const { redis } = platform
  const name = `full-${mode}`
  await call('PUT', `/runs/${name}`, { tasks: ['chain_sum'], complexity_mode: mode })
  await until(
    () => call('POST', '/items', { run: name, count: 2 }),
    ({ status }) => status === 200,
  )
  const run = await features.runs.runs.require(name)
  const keys = createRunKeys(platform.keys).forRun(name, run.epoch)
  await until(
    async () => (await redis.hlen(keys.itemBodies)) === (await redis.zcard(keys.openPositions)),
    (isMade) => isMade,
  )
  const evidence = {
    step: 0,
    time: '',
    task: 'chain_sum',
    score: 0.5,
    rollouts: 8,
    formatted: 1,
    difficulty: 0.5,
    floor: 0,
  }
  await redis.rpush(keys.frontierEvidence, JSON.stringify(evidence))
  await redis.config('SET', 'maxmemory', '1mb')
  const items = await takeItems(world, name, 2).finally(() => redis.config('SET', 'maxmemory', '0'))
  expect(items).toHaveLength(2)
  expect((await call('GET', `/runs/${name}/history`)).body.points).toHaveLength(mode === 'frontier' ? 1 : 0)
})

it('a run that was lost and begun anew can be read while Redis is full, and is marked once it has space', async () => {
  const { call, platform } = world
  const { redis, keys } = platform
  await call('PUT', '/runs/forgotten', { tasks: ['gcd'] })
  for (const key of await keysOf(redis, `${runSlot(keys, 'forgotten')}:*`)) await redis.unlink(key)
  await new RunRepository(redis, keys).updateSettings('forgotten', undefined, {}, { restart: false, remake: false }) // another process
  await redis.config('SET', 'maxmemory', '1mb')
  const { status, body } = await call('GET', '/runs/forgotten')
  expect([status, body.settings?.tasks]).toEqual([200, 'all'])
  await redis.config('SET', 'maxmemory', '0')
  await until(
    () => call('GET', '/runs/forgotten'),
    (answer) => answer.body.state?.is === 'recreated',
  )
})

/** Bytes that Redis keeps for what one connection sends: given back some seconds after it was large. */
async function largestInput(redis: Redis): Promise<number> {
  const rooms = String(await redis.client('LIST')).matchAll(/ qbuf=(\d+) qbuf-free=(\d+) /g)
  return Math.max(...[...rooms].map(([, used, free]) => Number(used) + Number(free)))
}
