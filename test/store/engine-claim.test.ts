import { randomUUID } from 'node:crypto'
import { afterEach, expect, inject, it, vi } from 'vitest'
import { claimEngine } from '../../src/store/engine-claim.ts'
import { keysUnder } from '../../src/store/keys.ts'
import { LanedRedis } from '../../src/store/laned-redis.ts'
import { connectForWork, whenReady } from '../../src/store/redis.ts'

const BEAT_MS = 5_000

afterEach(() => vi.useRealTimers())

it('a claim that is given up does not come back, though it was being repeated', async () => {
  const place = { url: inject('redisUrl'), prefix: `claim-${randomUUID()}` }
  const keys = keysUnder(place.prefix)
  const redis = new LanedRedis(place.url, { enableOfflineQueue: false })
  const onlooker = connectForWork(place)
  await whenReady(redis, 10_000)
  const [onWait, onLost] = [vi.fn(), vi.fn()]
  vi.useFakeTimers({ toFake: ['setInterval'] })
  const claim = await claimEngine(redis, keys, { version: '1', name: 'one', onWait, onLost })
  expect(await onlooker.zcard(keys.engines)).toBe(1)
  const lanes = Array.from({ length: 4 }, (_, k) => `${place.prefix}-${k}`)
  const held = lanes.map((key) => redis.overLane((lane) => lane.blpop(key, 60))) // scripts wait, all else does not
  vi.advanceTimersByTime(BEAT_MS)
  const closed = claim?.close()
  await redis.ping()
  for (const key of lanes) await onlooker.rpush(key, 'on')
  await Promise.all([...held, closed])
  expect(await onlooker.zcard(keys.engines)).toBe(0)
  redis.disconnect()
  onlooker.disconnect()
})
