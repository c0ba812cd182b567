/** Tracks the live workers by their heartbeats. */
import type { Redis } from 'ioredis'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'

const HEARTBEAT_INTERVAL_MS = 3000
const HEARTBEAT_TTL_MS = 10_000

export async function countLiveWorkers(redis: Redis, keys: RedisKeys): Promise<number> {
  return redis.zcount(keys.key('workers'), redisNow() - HEARTBEAT_TTL_MS, '+inf')
}

export function startHeartbeat(redis: Redis, keys: RedisKeys, name: string): { close(): Promise<void> } {
  const sendHeartbeat = () => {
    const now = redisNow()
    redis
      .multi()
      .zadd(keys.key('workers'), now, name)
      .zremrangebyscore(keys.key('workers'), 0, now - HEARTBEAT_TTL_MS)
      .exec()
      .catch(() => {}) // the next heartbeat follows soon
  }
  sendHeartbeat()
  const timer = setInterval(sendHeartbeat, HEARTBEAT_INTERVAL_MS)
  return {
    async close() {
      clearInterval(timer)
      await redis.zrem(keys.key('workers'), name).catch(() => {})
    },
  }
}
