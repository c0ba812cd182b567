/** The totals of the last hour, a point every ten seconds: written by whichever process comes first, read by all. */
import type { Redis } from 'ioredis'
import type { Keys } from '../store/keys.ts'
import type { Totals } from './totals.ts'

const EVERY_MS = 10_000
const POINTS_MOST = 360

/** Totals at a moment, and how many jobs waited then. */
export interface TrailPoint extends Totals {
  /** ISO 8601 */
  at: string
  queued: number
}

export class Trail {
  readonly #redis: Redis
  readonly #keys: Keys
  readonly #timer: NodeJS.Timeout

  constructor(redis: Redis, keys: Keys, point: () => Promise<TrailPoint>) {
    this.#redis = redis
    this.#keys = keys
    this.#timer = setInterval(() => void this.#write(point).catch(() => {}), EVERY_MS) // Redis is away: a gap
  }

  /** Oldest first. */
  async read(): Promise<TrailPoint[]> {
    const points = await this.#redis.lrange(this.#keys.trail, 0, -1)
    return points.toReversed().map((text) => JSON.parse(text) as TrailPoint) // written below
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #write(point: () => Promise<TrailPoint>): Promise<void> {
    const mine = await this.#redis.set(this.#keys.trailTurn, '1', 'PX', EVERY_MS - 500, 'NX')
    if (mine === null) return
    await this.#redis
      .multi()
      .lpush(this.#keys.trail, JSON.stringify(await point()))
      .ltrim(this.#keys.trail, 0, POINTS_MOST - 1)
      .exec()
  }
}
