/** What callers have used in a minute, summed over all processes; forgotten two minutes later. */
import type { Redis } from 'ioredis'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { MINUTE_MS } from './minute-window.ts'

const USAGE_TTL_MS = 2 * MINUTE_MS

interface UsageCounts {
  requests: number
  bytes: number
}

export async function addUsage(
  redis: Redis,
  keys: RedisKeys,
  minute: number,
  caller: string,
  more: UsageCounts,
): Promise<UsageCounts> {
  const key = keys.key(`usage:${minute}:${caller}`)
  if (more.requests === 0 && more.bytes === 0) {
    const [requests, bytes] = await redis.hmget(key, 'requests', 'bytes')
    return { requests: Number(requests), bytes: Number(bytes) }
  }
  const answers = await redis
    .multi()
    .hincrby(key, 'requests', more.requests)
    .hincrby(key, 'bytes', more.bytes)
    .pexpire(key, USAGE_TTL_MS)
    .exec()
  const [requests, bytes] = (answers ?? []).map(([, value]) => Number(value))
  return { requests: requests ?? 0, bytes: bytes ?? 0 }
}
