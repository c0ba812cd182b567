/** The totals of the last hour, one point every ten seconds (see appendHourlyPointSchedule). */

import type { HourlyPoint } from '@reasoning-gym-server/contract/overview'
import type { Redis } from 'ioredis'
import type { QueueBacklogReader } from '../../platform/queue/queue-state.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import type { FleetTotals } from './fleet-totals.ts'

const MAX_POINTS = 360

interface HourlySeriesDeps {
  redis: Redis
  keys: RedisKeys
  totals: FleetTotals
  backlog: QueueBacklogReader
}

export class HourlySeries {
  readonly #deps: HourlySeriesDeps
  readonly #key: string

  constructor(deps: HourlySeriesDeps) {
    this.#deps = deps
    this.#key = deps.keys.key('hourly-series')
  }

  /** Lists the points, oldest first. */
  async list(): Promise<HourlyPoint[]> {
    const points = await this.#deps.redis.lrange(this.#key, 0, -1)
    return points.toReversed().map((text) => JSON.parse(text) as HourlyPoint) // written below
  }

  async appendPoint(): Promise<void> {
    const point = JSON.stringify(await this.#readPoint())
    await this.#deps.redis
      .multi()
      .lpush(this.#key, point)
      .ltrim(this.#key, 0, MAX_POINTS - 1)
      .exec()
  }

  async #readPoint(): Promise<HourlyPoint> {
    const [totals, queues] = await Promise.all([this.#deps.totals.read(), this.#deps.backlog.readAll()])
    const queued = queues.reduce((sum, { jobs }) => sum + jobs.waiting + jobs.active + jobs.delayed, 0)
    return { at: new Date(redisNow()).toISOString(), queued, ...totals }
  }
}
