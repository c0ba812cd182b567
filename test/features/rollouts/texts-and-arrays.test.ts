import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createGroupKeys, type GroupRef } from '../../../src/features/rollouts/records.ts'
import { runSlot } from '../../../src/features/runs/records.ts'
import { listMasters } from '../../../src/platform/redis/cluster.ts'
import { keysOf, openWorld, until, type World } from '../../world.ts'

let world: World
let itemId: string
const TOKENS = Array.from({ length: 40 }, (_, k) => k)
beforeAll(async () => {
  world = await openWorld()
  itemId = (await world.call('POST', '/items', { task: 'gcd', seed: 1 })).body.items[0].id
})
afterEach(async () => {
  await world.stopWorkers()
})
afterAll(() => world.close())

const post = (run: string, group_id: string, more: object = {}) => {
  const rollouts = [
    { completion: 'x', tokens: TOKENS },
    { completion: '<answer>1</answer>', tokens: TOKENS },
  ]
  return world.call('POST', '/rollouts', { run, item_id: itemId, group_id, rollouts, ...more }, { prefer: 'wait=0' })
}
const begin = async (run: string, settings: object = {}): Promise<GroupRef> => {
  const { status } = await world.call('PUT', `/runs/${run}`, {
    tasks: ['gcd'],
    batch_size: 2,
    group_size: 2,
    drop_equal_scores: false,
    ...settings,
  })
  expect([200, 201]).toContain(status)
  const { epoch } = await world.features.runs.runs.require(run)
  return { run, epoch, group: 'g' }
}
const scored = (run: string, id: string) =>
  until(
    () => world.call('GET', `/rollouts/${id}?run=${run}`),
    ({ body }) => body.status !== 'queued',
  )
/** The keys of a run's texts and arrays by their kind and group, and how long each lives (-1: for ever). */
const stored = async (run: string): Promise<{ part: string; key: string; ttl: number }[]> => {
  const { redis, keys } = world.platform
  const all = await keysOf(redis, `${runSlot(keys, run)}:*`)
  const found = all.filter((key) => /:(?:texts|arrays):[^:]+$/.test(key)).toSorted()
  return Promise.all(
    found.map(async (key) => ({ part: key.split(':').slice(-2).join(' '), key, ttl: await redis.pttl(key) })),
  )
}
const lasting = async (run: string) => (await stored(run)).filter(({ ttl }) => ttl === -1).map(({ part }) => part)
const lose = async (run: string) => {
  for (const { key } of await stored(run)) await world.platform.redis.del(key)
}
const HOUR_MS = 60 * 60 * 1000

describe('texts and arrays of a group', () => {
  it('stay until the batch is acknowledged: then the arrays go, and the texts a day later', async () => {
    await begin('whole')
    expect((await post('whole', 'g')).status).toBe(202)
    expect(await lasting('whole')).toEqual(['arrays g', 'texts g'])
    world.startWorker()
    await scored('whole', 'g')
    const batch = await world.call('POST', '/runs/whole/batches', { step: 0 })
    expect(batch.body.groups[0].rollouts.map(({ tokens }: { tokens: number[] }) => tokens)).toEqual([TOKENS, TOKENS])
    expect(await lasting('whole')).toEqual(['arrays g', 'texts g'])
    expect((await world.call('POST', '/runs/whole/batches/0/ack')).status).toBe(200)
    expect(await stored('whole')).toMatchObject([{ part: 'texts g' }])
    expect((await stored('whole'))[0]?.ttl).toBeGreaterThan(23 * HOUR_MS)
    expect((await world.call('GET', '/runs/whole/groups')).body.groups[0].completions[0].text).toBe('x')
  })

  it('are not left behind by a post that is refused or repeated', async () => {
    await begin('refused')
    await post('refused', 'g')
    const before = await stored('refused')
    expect((await post('refused', 'g')).status).toBe(202)
    expect((await post('refused', 'g', { extra: 'different' })).status).toBe(409)
    expect(await stored('refused')).toEqual(before)
  })

  it('go before their time if newer ones need the room, but not those of a new group with the ID of an old one', async () => {
    const ref = await begin('reused', { batch_size: 4 })
    const { redis } = world.platform
    const keys = createGroupKeys(world.platform.keys).forRun('reused', ref.epoch)
    const full = 64 * 1024 * 1024
    await redis.rpush(keys.retainedTexts, `${full} old`, `${full} g`, `${full} left`) // `g` was retired, and has expired
    await redis.hset(keys.backlog, 'retained_bytes', 3 * full)
    await redis.set(keys.texts('old'), 'x')
    await post('reused', 'g')
    await post('reused', 'h', { buffer: false })
    world.startWorker()
    await scored('reused', 'g')
    await scored('reused', 'h')
    expect((await stored('reused')).map(({ part }) => part)).toEqual(['arrays g', 'texts g', 'texts h'])
    expect(await redis.lrange(keys.retainedTexts, 0, -1)).toHaveLength(1)
  })

  it('that Redis has lost fail their group', async () => {
    await begin('lost')
    await post('lost', 'g')
    await lose('lost')
    world.startWorker()
    expect((await scored('lost', 'g')).body).toMatchObject({ status: 'failed', code: 'redis_unavailable' })
  })

  it('that a batch has lost say so, and the batch can be acknowledged', async () => {
    await begin('missing')
    await post('missing', 'g')
    world.startWorker()
    await scored('missing', 'g')
    await lose('missing')
    const answer = await world.call('POST', '/runs/missing/batches', { step: 0 })
    expect(answer).toMatchObject({ status: 503, body: { detail: expect.stringContaining('lost the texts') } })
    expect((await world.call('POST', '/runs/missing/batches/0/ack')).status).toBe(200)
  })

  it('are all on the master of their run', async () => {
    await begin('together', { buffer_max_groups: 100 })
    const { redis, keys } = world.platform
    await Promise.all(Array.from({ length: 20 }, (_, k) => post('together', `g${k}`)))
    const held = await Promise.all(
      listMasters(redis).map((node) => node.keys(`${runSlot(keys, 'together')}:*:texts:*`)),
    )
    expect(held.filter((found) => found.length > 0).map((found) => found.length)).toEqual([20])
  })
})
