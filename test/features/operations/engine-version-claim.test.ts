import { randomUUID } from 'node:crypto'
import { afterEach, expect, inject, it, vi } from 'vitest'
import { claimEngineVersion } from '../../../src/features/operations/engine-version-claim.ts'
import { connectForWorkers, waitUntilReady } from '../../../src/platform/redis/connect.ts'
import { createRedisKeys } from '../../../src/platform/redis/keys.ts'
import { ScriptPoolRedis } from '../../../src/platform/redis/script-connections.ts'

const BEAT_MS = 5_000

afterEach(() => vi.useRealTimers())

it('a claim that is given up does not come back, though it was being repeated', async () => {
  const place = { url: inject('redisUrl'), prefix: `claim-${randomUUID()}` }
  const keys = createRedisKeys(place.prefix)
  const redis = new ScriptPoolRedis(place.url, { enableOfflineQueue: false })
  const onlooker = connectForWorkers(place)
  await waitUntilReady(redis, 40_000)
  const [onWait, onLost] = [vi.fn(), vi.fn()]
  vi.useFakeTimers({ toFake: ['setInterval'] })
  const claim = await claimEngineVersion(redis, keys, {
    version: '1',
    processName: 'one',
    onConflict: onWait,
    onClaimLost: onLost,
  })
  expect(await onlooker.zcard(keys.key('engine-processes'))).toBe(1)
  const lanes = Array.from({ length: 4 }, (_, k) => `${place.prefix}-${k}`)
  const held = lanes.map((key) => redis.withScriptConnection((lane) => lane.blpop(key, 60))) // scripts wait, all else does not
  vi.advanceTimersByTime(BEAT_MS)
  const closed = claim?.close()
  await redis.ping()
  for (const key of lanes) await onlooker.rpush(key, 'on')
  await Promise.all([...held, closed])
  expect(await onlooker.zcard(keys.key('engine-processes'))).toBe(0)
  redis.disconnect()
  onlooker.disconnect()
})
