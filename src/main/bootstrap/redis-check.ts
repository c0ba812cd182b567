/** For the mains: a Redis that is not there when they start is named in one line. */
import type { Logger } from 'pino'
import { connectForProbe, type RedisConfig, waitUntilReady } from '../../platform/redis/connect.ts'
import { formatRedisAddress } from '../../platform/redis/redis-url.ts'

const REDIS_STARTUP_TIMEOUT_MS = 3_000

export async function warnIfRedisUnreachable(
  redisConfig: Pick<RedisConfig, 'url' | 'tls'>,
  log: Logger,
  timeoutMs = REDIS_STARTUP_TIMEOUT_MS,
): Promise<void> {
  const redis = connectForProbe(redisConfig)
  try {
    await waitUntilReady(redis, timeoutMs)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    log.warn(
      `Redis at ${formatRedisAddress(redisConfig.url)} (REDIS_URL) does not answer: ${reason}; the server waits for it`,
    )
  } finally {
    redis.disconnect()
  }
}
