/** For the mains: a Redis that is not there when they start is named in one line. */
import type { Logger } from 'pino'
import { shownAddress } from './store/address.ts'
import { connectToLook, whenReady } from './store/redis.ts'

const LOOK_MS = 3_000

export async function tellIfRedisIsAway(url: string, log: Logger, timeoutMs = LOOK_MS): Promise<void> {
  const redis = connectToLook(url)
  try {
    await whenReady(redis, timeoutMs)
  } catch {
    log.warn(`Redis at ${shownAddress(url)} (REDIS_URL) does not answer: the server waits for it`)
  } finally {
    redis.disconnect()
  }
}
