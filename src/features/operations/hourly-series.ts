/** The totals of the last hour, a point every ten seconds (see appendHourlyPointSchedule). */
import type { Redis } from 'ioredis'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import type { CounterTotals } from './counter-totals.ts'

const MAX_POINTS = 360

/** Totals at a moment, and how many jobs waited then. */
export interface HourlyPoint extends CounterTotals {
  /** ISO 8601 */
  at: string
  queued: number
}

export class HourlySeries {
  readonly #redis: Redis
  readonly #keys: RedisKeys

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = keys
  }

  /** Oldest first. */
  async list(): Promise<HourlyPoint[]> {
    const points = await this.#redis.lrange(this.#keys.key('hourly-series'), 0, -1)
    return points.toReversed().map((text) => JSON.parse(text) as HourlyPoint) // written below
  }

  async append(point: HourlyPoint): Promise<void> {
    await this.#redis
      .multi()
      .lpush(this.#keys.key('hourly-series'), JSON.stringify(point))
      .ltrim(this.#keys.key('hourly-series'), 0, MAX_POINTS - 1)
      .exec()
  }
}
