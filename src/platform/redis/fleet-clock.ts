/**
 * The time that all processes agree on: that of Redis. What one process stores and another compares is of this clock, so
 * that a machine whose own clock is wrong, or is set, neither ends the leases of others nor holds anything up.
 */
import type { Redis } from 'ioredis'

const SYNC_INTERVAL_MS = 10_000
/** The answer could be from any moment of a longer wait. */
const MAX_ROUND_TRIP_MS = 500

/** A reading of Redis' clock, and when it was taken on the clock of this process, which nobody can set. */
let reading: { redisMs: number; takenAt: number } | undefined

/** Milliseconds since 1970; by the machine's own clock until Redis has been heard for the first time. */
export function fleetNow(): number {
  return reading ? Math.round(reading.redisMs + performance.now() - reading.takenAt) : Date.now()
}

/** Reads Redis' clock now and again and again, and as soon as a connection is made. */
export function startFleetClock(redis: Redis): { close(): void } {
  const sync = () => void syncFleetClock(redis).catch(() => {}) // unavailable: the clock runs on
  redis.on('ready', sync)
  const timer = setInterval(sync, SYNC_INTERVAL_MS).unref()
  return {
    close() {
      clearInterval(timer)
      redis.off('ready', sync)
    },
  }
}

export async function syncFleetClock(redis: Pick<Redis, 'time'>): Promise<void> {
  const askedAt = performance.now()
  const [seconds = 0, microseconds = 0] = (await redis.time()).map(Number)
  const answeredAt = performance.now()
  if (reading && answeredAt - askedAt > MAX_ROUND_TRIP_MS) return
  reading = { redisMs: seconds * 1000 + microseconds / 1000, takenAt: (askedAt + answeredAt) / 2 }
}
