/**
 * The clock of Redis, on which all processes agree. Times that one process stores and another compares use this clock, so
 * that a machine with a wrong clock, or one that is set, neither ends the leases of others nor delays anything.
 */
import type { Redis } from 'ioredis'

const SYNC_INTERVAL_MS = 10_000
/** Slower replies are ignored, because the time could be from any moment of the wait. */
const MAX_ROUND_TRIP_MS = 500

/** A reading of the clock of Redis, with the monotonic time of this process at which it was taken. */
let reading: { redisMs: number; takenAt: number } | undefined

/** Milliseconds since 1970; from the machine's own clock until Redis has first replied. */
export function redisNow(): number {
  return reading ? Math.round(reading.redisMs + performance.now() - reading.takenAt) : Date.now()
}

/** Reads the clock of Redis now, at intervals, and whenever a connection is established. */
export function startRedisClock(redis: Redis): { close(): void } {
  const sync = () => void syncRedisClock(redis).catch(() => {}) // unavailable: the clock continues from the last reading
  redis.on('ready', sync)
  const timer = setInterval(sync, SYNC_INTERVAL_MS).unref()
  return {
    close() {
      clearInterval(timer)
      redis.off('ready', sync)
    },
  }
}

export async function syncRedisClock(redis: Pick<Redis, 'time'>): Promise<void> {
  const askedAt = performance.now()
  const [seconds = 0, microseconds = 0] = (await redis.time()).map(Number)
  const answeredAt = performance.now()
  if (reading && answeredAt - askedAt > MAX_ROUND_TRIP_MS) return
  reading = { redisMs: seconds * 1000 + microseconds / 1000, takenAt: (askedAt + answeredAt) / 2 }
}
