/** The totals of the last hour, a point every ten seconds: written by whichever process comes first, read by all. */
import type { Redis } from 'ioredis'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import type { CounterTotals } from './counter-totals.ts'

const POINT_INTERVAL_MS = 10_000
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
  readonly #timer: NodeJS.Timeout

  constructor(redis: Redis, keys: RedisKeys, point: () => Promise<HourlyPoint>) {
    this.#redis = redis
    this.#keys = keys
    this.#timer = setInterval(() => void this.#appendPoint(point).catch(() => {}), POINT_INTERVAL_MS) // Redis is away: a gap
  }

  /** Oldest first. */
  async list(): Promise<HourlyPoint[]> {
    const points = await this.#redis.lrange(this.#keys.key('hourly-series'), 0, -1)
    return points.toReversed().map((text) => JSON.parse(text) as HourlyPoint) // written below
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #appendPoint(point: () => Promise<HourlyPoint>): Promise<void> {
    const mine = await this.#redis.set(this.#keys.key('hourly-series-lock'), '1', 'PX', POINT_INTERVAL_MS - 500, 'NX')
    if (mine === null) return
    await this.#redis
      .multi()
      .lpush(this.#keys.key('hourly-series'), JSON.stringify(await point()))
      .ltrim(this.#keys.key('hourly-series'), 0, MAX_POINTS - 1)
      .exec()
  }
}
