/** The overview of the server, as `GET /overview` and `GET /events` show it: the counters of all processes, and the last hour. */
import type { HourlyPoint, Overview, Readiness, Totals } from '@reasoning-gym-server/contract/overview'
import type { Run } from '@reasoning-gym-server/contract/run'
import type { Redis } from 'ioredis'
import type { Counter } from 'prom-client'
import type { MetricsRecorder } from '../../platform/metrics/metrics-recorder.ts'
import { SharedCounters } from '../../platform/metrics/shared-counters.ts'
import type { QueueState } from '../../platform/queue/queue-state.ts'
import { PROBE_TIMEOUT_MS, withRedisTimeout } from '../../platform/redis/connect.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { tryRead } from '../../platform/redis/unreadable-entries.ts'
import type { RunViews } from '../runs/views.ts'
import type { ProcessReports } from './process-reports.ts'

/** Time for which one read of Redis serves all listeners. */
const CACHE_TTL_MS = 1000
/** Longer than readiness waits. The dashboard names a Redis that hangs. */
const READ_TIMEOUT_MS = 1.5 * PROBE_TIMEOUT_MS
/** Points of the last hour, one every ten seconds (see appendHourlyPointSchedule). */
const MAX_POINTS = 360

interface ServerOverviewDeps {
  redis: Redis
  keys: RedisKeys
  totals: FleetTotals
  queues: QueueState
  reports: ProcessReports
  views: RunViews
  checkReadiness: () => Promise<Readiness>
}

export class ServerOverview {
  readonly #deps: ServerOverviewDeps
  readonly #seriesKey: string
  #cached: { at: number; overview: Promise<Overview> } | undefined

  constructor(deps: ServerOverviewDeps) {
    this.#deps = deps
    this.#seriesKey = deps.keys.key('hourly-series')
  }

  /** Returns the overview, at most a second old. */
  getCached(): Promise<Overview> {
    const at = redisNow()
    if (!this.#cached || at - this.#cached.at > CACHE_TTL_MS) this.#cached = { at, overview: this.#build() }
    return this.#cached.overview
  }

  /** Returns the overview with the totals of the last hour, oldest first. */
  async getWithHistory(): Promise<Overview & { history: HourlyPoint[] }> {
    const [points, overview] = await Promise.all([this.#deps.redis.lrange(this.#seriesKey, 0, -1), this.getCached()])
    const read = (text: string, k: number) =>
      tryRead(this.#deps.redis, { key: this.#seriesKey, name: String(k) }, () => JSON.parse(text) as HourlyPoint) // written below
    const history = points.flatMap((text, k) => read(text, k) ?? []).toReversed()
    return { ...overview, history }
  }

  async appendHourlyPoint(): Promise<void> {
    const { redis, totals } = this.#deps
    const [sums, queues] = await Promise.all([totals.read(), this.#deps.queues.readBacklog()])
    const queued = queues.reduce((sum, { jobs }) => sum + jobs.waiting + jobs.active + jobs.delayed, 0)
    const point: HourlyPoint = { at: new Date(redisNow()).toISOString(), queued, ...sums }
    await redis
      .multi()
      .lpush(this.#seriesKey, JSON.stringify(point))
      .ltrim(this.#seriesKey, 0, MAX_POINTS - 1)
      .exec()
  }

  /** Throws `unknown_run`. */
  async requireRun(name: string): Promise<Run> {
    return this.#deps.views.get(name)
  }

  async #build(): Promise<Overview> {
    const { redis, checkReadiness, totals, reports } = this.#deps
    const reads = Promise.all([checkReadiness(), totals.read(), this.#deps.queues.readBacklog(), reports.list()])
    const [health, sums, queues, processes] = await withRedisTimeout(READ_TIMEOUT_MS, reads, redis)
    const now = redisNow()
    return {
      at: new Date(now).toISOString(),
      health,
      totals: sums,
      queues: queues.map(({ queue, jobs, oldestAt = now }) => {
        return { queue, ...jobs, oldest_s: Math.max(0, (now - oldestAt) / 1000) }
      }),
      processes,
    }
  }
}

/** What each process counts since it started. */
const COUNTS: { [Name in keyof Totals]: (recorder: MetricsRecorder) => Promise<number> } = {
  requests: ({ httpRequests }) => sum(httpRequests),
  items_handed_out: ({ itemsServed }) => sum(itemsServed),
  items_made: ({ itemsMade }) => sum(itemsMade),
  rollouts: ({ rollouts }) => sum(rollouts),
  verdicts: ({ verdicts }) => sum(verdicts),
  unscored: ({ verdicts }) => sum(verdicts, ({ status }) => status === 'unscored'),
}
const NAMES = Object.keys(COUNTS) as (keyof Totals)[] // the keys of its own type

/** Sums the counters of all processes: each process adds the growth of its own. */
export class FleetTotals {
  readonly #recorder: MetricsRecorder
  readonly #sharedCounters: SharedCounters
  readonly #collected = new Map<keyof Totals, number>()

  constructor(redis: Redis, keys: RedisKeys, recorder: MetricsRecorder) {
    this.#recorder = recorder
    this.#sharedCounters = new SharedCounters(redis, keys.key('fleet-totals'), () => this.#collect())
  }

  async read(): Promise<Totals> {
    await this.#sharedCounters.flush()
    const sums = await this.#sharedCounters.readFields(NAMES)
    return Object.fromEntries(NAMES.map((name, k) => [name, sums[k] ?? 0])) as unknown as Totals // one for each name
  }

  close(): Promise<void> {
    return this.#sharedCounters.close()
  }

  async #collect(): Promise<void> {
    for (const name of NAMES) {
      const count = await COUNTS[name](this.#recorder)
      this.#sharedCounters.add(name, count - (this.#collected.get(name) ?? 0))
      this.#collected.set(name, count)
    }
  }
}

async function sum<Label extends string>(
  counter: Counter<Label>,
  isIncluded: (labels: Partial<Record<Label, string | number>>) => boolean = () => true,
): Promise<number> {
  const { values } = await counter.get()
  return values.reduce((total, { labels, value }) => (isIncluded(labels) ? total + value : total), 0)
}
