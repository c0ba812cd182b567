/** Rows of docs/operations/failures.md: Redis is gone, slow, empty, read-only, full, without replicas, without snapshots. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { until } from '../world.ts'
import { type OnRedis, worldOnRedis } from './server.ts'

let part: OnRedis
beforeAll(async () => {
  part = await worldOnRedis()
})
afterAll(() => part.stop())

const untilReady = () =>
  until(
    () => part.call('GET', '/readyz'),
    ({ status }) => status === 200,
    60_000,
  )
beforeEach(async () => {
  await untilReady()
})

const SLOW = { timeout: 180_000 }

/** The run's counters say what is there and nothing else. */
async function counted(run: string, groups: number): Promise<void> {
  const { body } = await part.call('GET', `/runs/${run}`)
  expect(body.progress).toMatchObject({ groups, scored_groups: groups, queued_groups: 0, rollouts: 2 * groups })
}

async function refuses(run: string, code: string): Promise<void> {
  const refused = await until(
    () => part.post(run, 'refused'),
    ({ status }) => status === 503,
  )
  expect(refused.body.code).toBe(code)
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
}

/** As long as posts are refused, /readyz is 503 and says why. */
async function isNotReady(why: RegExp): Promise<void> {
  const { body } = await until(
    () => part.call('GET', '/readyz'),
    ({ status, body }) => status === 503 && why.test(body.redis.detail), // which a connection that is made again hides
  )
  expect(body).toMatchObject({ status: 'not_ready', redis: { ok: false } })
}

it('gone: posts get 503 and a time to ask again, the rest lives on; afterwards all is there', SLOW, async () => {
  expect((await part.post('gone', 'before', 'wait=30')).body.status).toBe('scored')
  const queued = await Promise.all(['q1', 'q2', 'q3'].map((group) => part.post('gone', group)))
  for (const { status } of queued) expect([200, 202]).toContain(status)
  await part.redis.kill()
  await refuses('gone', 'redis_unavailable')
  expect((await part.call('GET', '/livez')).status).toBe(200)
  const ready = await part.call('GET', '/readyz')
  expect([ready.status, ready.body.redis.ok, ready.body.engine.ok]).toEqual([503, false, true])
  expect((await part.call('GET', '/tasks')).status).toBe(200)
  const plain = await part.call('POST', '/score', {
    rollouts: [{ recipe: { task: 'leg_counting', seed: 42 }, answer: '100' }],
    detail: 'rewards',
  })
  expect(plain.body).toEqual({ rewards: [1] }) // the plain reward function needs no Redis
  part.redis.restart()
  await part.postUntilScored('gone', 'refused')
  await part.expectKept('gone', ['before', 'q1', 'q2', 'q3', 'refused'])
  await counted('gone', 5)
  await untilReady()
})

it('slow: requests wait, and end with 503 where it takes too long; nothing is done twice', SLOW, async () => {
  expect((await part.post('slow', 'before', 'wait=30')).body.status).toBe('scored')
  part.redis.pause()
  const waiting = part.post('slow', 'waiting')
  const meanwhile = await part.call('GET', '/livez')
  expect(meanwhile.status).toBe(200) // nobody else waits
  const ended = await waiting // the deadline of a command ends it
  expect([ended.status, ended.body.code]).toEqual([503, 'redis_unavailable'])
  part.redis.resume()
  await part.postUntilScored('slow', 'waiting') // it may have been accepted meanwhile: it counts once
  await part.expectKept('slow', ['before', 'waiting'])
  await counted('slow', 2)
})

it('restarted empty: what it held is gone, as it must be, and the server goes on by itself', SLOW, async () => {
  expect((await part.post('empty', 'before', 'wait=30')).body.status).toBe('scored')
  await part.redis.kill()
  rmSync(part.redis.folder, { recursive: true })
  part.redis.restart()
  await part.postUntilScored('empty', 'after')
  expect((await part.call('GET', '/rollouts/before?run=empty')).body.code).toBe('unknown_group')
  await part.expectKept('empty', ['after'])
  await counted('empty', 1)
  const ready = await until(
    () => part.call('GET', '/readyz'),
    ({ body }) => body.workers.count > 0,
  )
  expect(ready.status).toBe(200)
})

it('read-only: posts get 503, what is there can be read; afterwards all goes on', SLOW, async () => {
  expect((await part.post('readonly', 'before', 'wait=30')).body.status).toBe('scored')
  await part.redis.client.config('SET', 'replica-serve-stale-data', 'yes')
  await part.redis.client.replicaof('127.0.0.1', '1') // a master that is not there
  await refuses('readonly', 'redis_unavailable')
  await isNotReady(/takes no writes: READONLY/)
  await until(
    () => part.call('GET', '/rollouts/before?run=readonly'),
    ({ body }) => body.status === 'scored', // not while a connection is made again, to look for another master
  )
  await part.redis.client.replicaof('NO', 'ONE')
  await part.postUntilScored('readonly', 'refused')
  await part.expectKept('readonly', ['before', 'refused'])
  await counted('readonly', 2)
})

it('full: posts get 503 redis_full, what was accepted stays; with room all goes on', SLOW, async () => {
  expect((await part.post('full', 'before', 'wait=30')).body.status).toBe('scored')
  await part.redis.client.config('SET', 'maxmemory', '1mb')
  await refuses('full', 'redis_full')
  await isNotReady(/takes no writes: OOM/)
  expect((await part.call('GET', '/rollouts/before?run=full')).body.status).toBe('scored')
  await part.redis.client.config('SET', 'maxmemory', '0')
  await part.postUntilScored('full', 'refused')
  await part.expectKept('full', ['before', 'refused'])
  await counted('full', 2)
})

it('too few replicas: posts get 503, what is there can be read; with enough of them all goes on', SLOW, async () => {
  expect((await part.post('alone', 'before', 'wait=30')).body.status).toBe('scored')
  await part.redis.client.config('SET', 'min-replicas-to-write', '1')
  await refuses('alone', 'redis_unavailable')
  await isNotReady(/takes no writes: NOREPLICAS/)
  expect((await part.call('GET', '/rollouts/before?run=alone')).body.status).toBe('scored')
  await part.redis.client.config('SET', 'min-replicas-to-write', '0')
  await part.postUntilScored('alone', 'refused')
  await part.expectKept('alone', ['before', 'refused'])
  await counted('alone', 2)
})

it('a snapshot that fails: posts get 503, what is there can be read; once one succeeds all goes on', SLOW, async () => {
  expect((await part.post('snapshot', 'before', 'wait=30')).body.status).toBe('scored')
  const { client, folder } = part.redis
  const snapshot = join(folder, 'dump.rdb')
  mkdirSync(snapshot) // Redis cannot give its snapshot this name
  await client.config('SET', 'save', '3600 1')
  try {
    await client.bgsave()
    await until(
      () => client.info('persistence'),
      (info) => info.includes('rdb_last_bgsave_status:err'),
    )
    await refuses('snapshot', 'redis_unavailable')
    await isNotReady(/MISCONF/) // PING is refused too
    expect((await part.call('GET', '/rollouts/before?run=snapshot')).body.status).toBe('scored')
    rmSync(snapshot, { recursive: true })
    await client.bgsave()
    await part.postUntilScored('snapshot', 'refused')
    await part.expectKept('snapshot', ['before', 'refused'])
  } finally {
    await client.config('SET', 'save', '') // with snapshots it would not end without one
  }
})

it('scripts flushed without end: no call fails, and every group and sample counts once', SLOW, async () => {
  const groups = Array.from({ length: 16 }, (_, k) => `g${k}`).toSorted()
  const statuses = new Set<number>()
  const call: typeof part.call = async (...given) => {
    const answer = await part.call(...given)
    statuses.add(answer.status)
    return answer
  }
  await part.call('PUT', '/runs/flushed', { min_trained_tokens: 0, batch_size: 2 })
  await part.call('PUT', '/runs/singles', { min_trained_tokens: 0, group_size: 2 })
  const flushing = new AbortController()
  const flushes = (async () => {
    let count = 0
    for (; !flushing.signal.aborted; count++) await part.redis.client.script('FLUSH')
    return count
  })()
  const delivered: string[] = []
  try {
    const posts = await Promise.all(groups.map((group) => part.post('flushed', group, 'wait=30')))
    expect(posts.map(({ body }) => body.status)).toEqual(groups.map(() => 'scored'))
    const { items } = (await call('POST', '/items', { run: 'singles', step: 0, count: 8 }, { prefer: 'wait=60' })).body
    const samples = items.flatMap(({ id: item_id }: { id: string }) =>
      ['x', 'y'].map((completion) => ({ item_id, completion, rollout_id: `${item_id.slice(-90)}-${completion}` })),
    )
    const post = (sample: unknown) => call('POST', '/runs/singles/samples', { samples: [sample] })
    await Promise.all([...samples, ...samples].map(post)) // each twice
    for (const step of groups.keys()) {
      const batch = await call('POST', '/runs/flushed/batches', { step }, { prefer: 'wait=30' })
      delivered.push(...batch.body.groups.map(({ group_id }: { group_id: string }) => group_id))
      await call('POST', `/runs/flushed/batches/${step}/ack`, {})
    }
    await counted('flushed', groups.length)
    await until(
      () => part.call('GET', '/runs/singles'),
      ({ body }) => body.progress.scored_groups === items.length,
    )
    await counted('singles', items.length)
  } finally {
    flushing.abort()
  }
  expect(delivered.toSorted()).toEqual(groups)
  expect([...statuses].filter((status) => status >= 300)).toEqual([])
  expect(await flushes).toBeGreaterThan(100)
})

it('may evict keys: /readyz says so, and how many it has evicted; with noeviction all goes on', SLOW, async () => {
  const { client } = part.redis
  const ready = async () => (await untilReady()).body.redis
  expect((await part.post('evicted', 'before', 'wait=30')).body.status).toBe('scored')
  await client.config('SET', 'maxmemory-policy', 'volatile-ttl')
  expect(await ready()).toEqual({ ok: true, detail: expect.stringMatching(/^Redis may evict keys \(volatile-ttl\)/) })
  await until(
    async () => {
      await client.config('SET', 'maxmemory', '0')
      // These keys are evicted first. On a busy machine they may have expired before.
      for (let k = 0; k < 50; k++) await client.set(`short-lived:${k}`, 'x'.repeat(10_000), 'EX', 5)
      const used = Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1])
      await client.config('SET', 'maxmemory', String(used - 20_000))
      return client.info('stats')
    },
    (info) => /evicted_keys:[1-9]/.test(info),
  )
  await client.config('SET', 'maxmemory', '0')
  expect(await ready()).toEqual({
    ok: true,
    detail: expect.stringMatching(/^Redis has evicted \d+ keys, and may evict more \(volatile-ttl\).*noeviction$/),
  })
  await client.config('SET', 'maxmemory-policy', 'noeviction')
  expect(await ready()).toEqual({ ok: true })
  await part.postUntilScored('evicted', 'after')
  await part.expectKept('evicted', ['before', 'after'])
})
