/** For the mains: a Redis that is not there when they start is named in one line. */
import type { Logger } from 'pino'
import { formatRedisAddress } from './store/address.ts'
import { connectForProbe, waitUntilReady } from './store/redis.ts'

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
