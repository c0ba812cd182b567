/** Which workers live: each says so every few seconds. */
import type { Redis } from 'ioredis'
import type { Keys } from './keys.ts'

const BEAT_MS = 3000
const ALIVE_MS = 10_000

export async function countWorkers(redis: Redis, keys: Keys): Promise<number> {
  return redis.zcount(keys.workers, Date.now() - ALIVE_MS, '+inf')
}

export function beat(redis: Redis, keys: Keys, name: string): { close(): Promise<void> } {
  const say = () => {
    const now = Date.now()
    redis
      .multi()
      .zadd(keys.workers, now, name)
      .zremrangebyscore(keys.workers, 0, now - ALIVE_MS)
      .exec()
      .catch(() => {}) // said again soon
  }
  say()
  const timer = setInterval(say, BEAT_MS)
  return {
    async close() {
      clearInterval(timer)
      await redis.zrem(keys.workers, name).catch(() => {})
    },
  }
}
