/** Warns in one line if Redis does not answer at startup. */
import type { Logger } from 'pino'
import { connectForProbe, type RedisConfig, waitUntilReady } from '../../../platform/redis/connect.ts'
import { formatRedisAddress } from '../../../platform/redis/redis-url.ts'

const REDIS_STARTUP_TIMEOUT_MS = 900
const RECOVERY_TIMEOUT_MS = 3600_000

export async function warnIfRedisUnreachable(
  redisConfig: Pick<RedisConfig, 'url' | 'tls'>,
  log: Logger,
  timeoutMs = REDIS_STARTUP_TIMEOUT_MS,
  recoveryTimeoutMs = RECOVERY_TIMEOUT_MS,
): Promise<void> {
  const redis = connectForProbe(redisConfig)
  try {
    await waitUntilReady(redis, timeoutMs)
  } catch (error) {
    const name = `Redis at ${formatRedisAddress(redisConfig.url)} (REDIS_URL)`
    const reason = error instanceof Error ? error.message : String(error)
    log.warn(`${reason}. The server waits for it. Start Redis, or correct REDIS_URL`)
    const recovery = waitUntilReady(redis, recoveryTimeoutMs)
    await recovery.then(() => log.info(`${name} answers now`)).catch(() => {})
  } finally {
    redis.disconnect()
  }
}
