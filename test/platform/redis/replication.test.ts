/** Replies that wait for replicas, on a real master with a real replica. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest'
import { resolveRedisBinary } from '../../../src/main/bootstrap/redis/redis-process.ts'
import { connectForProbe, connectForRequests, waitUntilReady } from '../../../src/platform/redis/connect.ts'
import { createRedisKeys } from '../../../src/platform/redis/keys.ts'
import { Replication } from '../../../src/platform/redis/replication.ts'
import { findFreePortPairs, LoopbackRedis } from '../../../verification/support/loopback-redis.ts'
import { openWorld, until, type World } from '../../world.ts'

const folder = mkdtempSync(join(tmpdir(), 'rgs-replication-'))
let master: LoopbackRedis
let replica: LoopbackRedis
let redis: ReturnType<typeof connectForRequests>
let replication: Replication

const POLL = { timeout: 20_000, interval: 50 }
const isInSync = async () => /master_link_status:up/.test(await replica.client.info('replication'))

beforeAll(async () => {
  const binary = await resolveRedisBinary(() => {})
  const [first = 0, second = 0] = await findFreePortPairs(2)
  master = new LoopbackRedis(binary, folder, first, {})
  await master.client.ping()
  replica = new LoopbackRedis(binary, folder, second, { replicaof: `127.0.0.1 ${first}` })
  await vi.waitUntil(isInSync, POLL)
  const endpoint = { url: `redis://127.0.0.1:${first}`, prefix: 'test' }
  redis = connectForRequests(endpoint)
  await waitUntilReady(redis, 40_000)
  replication = new Replication(redis, connectForProbe(endpoint), createRedisKeys('test'), 1)
})
afterAll(async () => {
  replication.close()
  redis.disconnect()
  await Promise.all([master.stop(), replica.stop()])
  rmSync(folder, { recursive: true, force: true })
})

/** What a call does: a mark, a write and the confirmation. */
async function writeAndConfirm(change = async () => {}): Promise<void> {
  const mark = replication.mark()
  await redis.set('written', String(Math.random()))
  await change()
  await replication.confirm(mark)
}

/** A busy machine may take longer than a barrier waits. */
const untilConfirmed = (write: () => Promise<unknown> = writeAndConfirm) =>
  vi.waitUntil(
    () =>
      write().then(
        () => true,
        () => false,
      ),
    POLL,
  )

beforeEach(() => untilConfirmed())

describe('a write is confirmed', () => {
  it('when the replica has it', async () => {
    await redis.set('durable', 'yes')
    await untilConfirmed(() => replication.confirm(replication.mark()))
    expect(await replica.client.get('durable')).toBe('yes')
    expect(await master.client.info('commandstats')).toMatch(/cmdstat_wait(aof)?:/)
  })

  it('by one barrier for all callers that wait at the same time', async () => {
    await untilConfirmed(async () => {
      await master.client.config('RESETSTAT')
      const ended = await Promise.allSettled(Array.from({ length: 100 }, () => writeAndConfirm()))
      if (ended.some(({ status }) => status === 'rejected')) throw new Error('again')
    })
    const calls = Number(/cmdstat_wait(?:aof)?:calls=(\d+)/.exec(await master.client.info('commandstats'))?.[1])
    expect(calls).toBeGreaterThan(0)
    expect(calls).toBeLessThan(10)
  })
})

describe('a write is refused', () => {
  it('while the replica stands still', async () => {
    replica.pause()
    try {
      await expect(writeAndConfirm()).rejects.toMatchObject({
        code: 'redis_unavailable',
        message: expect.stringContaining('only 0 of 1 replicas'),
      })
    } finally {
      replica.resume()
    }
  })

  it('if a connection was lost after the write, since it may have gone to a master that is no more', async () => {
    const loseConnections = async () => {
      await master.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      await vi.waitUntil(() => redis.status !== 'ready', POLL)
    }
    await expect(writeAndConfirm(loseConnections)).rejects.toMatchObject({ code: 'redis_unavailable' })
  })

  it('if the master was replaced and has come back in the meantime, on the same connections', async () => {
    const replaceMaster = async () => {
      await master.client.replicaof('127.0.0.1', replica.port)
      await master.client.replicaof('NO', 'ONE')
    }
    await expect(writeAndConfirm(replaceMaster)).rejects.toMatchObject({ code: 'redis_unavailable' })
    await vi.waitUntil(isInSync, POLL)
  })
})

describe('calls to a server whose Redis has too few replicas', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ REDIS_REPLICAS: 1, redisUrl: inject('redisUrl') })
  })
  afterAll(() => world.close())

  it('get 503 if they write', async () => {
    const { status, body } = await world.call('PUT', '/runs/unreplicated', { tasks: ['chain_sum'] })
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'redis_unavailable' })
  })

  it('are answered if they only read or score', async () => {
    expect((await world.call('GET', '/runs/unreplicated')).status).toBe(200)
    const { body } = await until(
      () => world.call('GET', '/readyz'),
      ({ status }) => status === 200,
    )
    expect(body.redis.detail).toContain('REDIS_REPLICAS asks for 1')
    const rollouts = [{ recipe: { task: 'leg_counting', seed: 42 }, completion: '<answer>1</answer>' }]
    expect((await world.call('POST', '/score', { rollouts })).status).toBe(200)
  })
})
