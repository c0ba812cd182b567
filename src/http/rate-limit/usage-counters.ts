/** The usage of each caller per minute, summed over all processes. It expires after two minutes. */
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
  increment: UsageCounts,
): Promise<UsageCounts> {
  const key = keys.key(`usage:${minute}:${caller}`)
  if (increment.requests === 0 && increment.bytes === 0) {
    const [requests, bytes] = await redis.hmget(key, 'requests', 'bytes')
    return { requests: Number(requests), bytes: Number(bytes) }
  }
  const replies = await redis
    .multi()
    .hincrby(key, 'requests', increment.requests)
    .hincrby(key, 'bytes', increment.bytes)
    .pexpire(key, USAGE_TTL_MS)
    .exec()
  const [requests, bytes] = (replies ?? []).map(([, value]) => Number(value))
  return { requests: requests ?? 0, bytes: bytes ?? 0 }
}
