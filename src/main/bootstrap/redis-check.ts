/** For the mains: a Redis that is not there when they start is named in one line. */
import type { Logger } from 'pino'
import { connectForProbe, waitUntilReady } from '../../platform/redis/connect.ts'
import { formatRedisAddress } from '../../platform/redis/redis-url.ts'

const REDIS_STARTUP_TIMEOUT_MS = 3_000

export async function warnIfRedisUnreachable(
  url: string,
  log: Logger,
  timeoutMs = REDIS_STARTUP_TIMEOUT_MS,
): Promise<void> {
  const redis = connectForProbe(url)
  try {
    await waitUntilReady(redis, timeoutMs)
  } catch {
    log.warn(`Redis at ${formatRedisAddress(url)} (REDIS_URL) does not answer: the server waits for it`)
  } finally {
    redis.disconnect()
  }
}
