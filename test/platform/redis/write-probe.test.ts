import { afterAll, afterEach, beforeAll, expect, inject, it, vi } from 'vitest'
import { listMasters, WriteProbe } from '../../../src/platform/redis/cluster.ts'
import { connectForRequests, waitUntilReady } from '../../../src/platform/redis/connect.ts'
import { createRedisKeys } from '../../../src/platform/redis/keys.ts'
import { keysOf } from '../../world.ts'

const prefix = `probe-${process.pid}`
const redis = connectForRequests({ url: inject('redisUrl'), prefix })
beforeAll(() => waitUntilReady(redis, 40_000))
afterAll(() => redis.disconnect())
afterEach(() => vi.restoreAllMocks())

it('however many ask, each master gets one write, of a key that expires', async () => {
  const writes = vi.spyOn(redis, 'set')
  const probe = new WriteProbe(redis, createRedisKeys(prefix))
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now()) // all within one second
  await Promise.all(Array.from({ length: 100 }, () => probe.check()))
  await probe.check()
  clock.mockRestore()
  const masters = listMasters(redis).length
  expect(writes).toHaveBeenCalledTimes(masters)
  const keys = await keysOf(redis, `${prefix}:*`)
  expect(keys).toHaveLength(masters)
  for (const key of keys) expect(await redis.pttl(key)).toBeGreaterThan(0)
})
