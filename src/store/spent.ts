/** What callers have used in a minute, summed over all processes; forgotten two minutes later. */
import type { Redis } from 'ioredis'
import type { Keys } from './keys.ts'

const KEPT_S = 120

interface Use {
  requests: number
  bytes: number
}

export async function addSpent(redis: Redis, keys: Keys, minute: number, caller: string, more: Use): Promise<Use> {
  const key = keys.spent(minute, caller)
  if (more.requests === 0 && more.bytes === 0) {
    const [requests, bytes] = await redis.hmget(key, 'requests', 'bytes')
    return { requests: Number(requests), bytes: Number(bytes) }
  }
  const answers = await redis
    .multi()
    .hincrby(key, 'requests', more.requests)
    .hincrby(key, 'bytes', more.bytes)
    .expire(key, KEPT_S)
    .exec()
  const [requests, bytes] = (answers ?? []).map(([, value]) => Number(value))
  return { requests: requests ?? 0, bytes: bytes ?? 0 }
}
