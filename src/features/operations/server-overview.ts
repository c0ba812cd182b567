/** The overview of the server, as `GET /overview` and `GET /events` show it. */
import type { HourlyPoint, Overview, Readiness } from '@reasoning-gym-server/contract/overview'
import type { Run } from '@reasoning-gym-server/contract/run'
import type { QueueBacklog, QueueBacklogReader } from '../../platform/queue/queue-state.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import type { RunViews } from '../runs/views.ts'
import type { FleetTotals } from './fleet-totals.ts'
import type { HourlySeries } from './hourly-series.ts'
import type { ProcessReports } from './process-reports.ts'

/** Time for which one read of Redis serves all listeners. */
const CACHE_TTL_MS = 1000

interface ServerOverviewDeps {
  totals: FleetTotals
  backlog: QueueBacklogReader
  reports: ProcessReports
  hourlySeries: HourlySeries
  views: RunViews
  checkReadiness: () => Promise<Readiness>
}

export class ServerOverview {
  readonly #deps: ServerOverviewDeps
  #cached: { at: number; overview: Promise<Overview> } | undefined

  constructor(deps: ServerOverviewDeps) {
    this.#deps = deps
  }

  /** Returns the overview, at most a second old. */
  getCached(): Promise<Overview> {
    const at = redisNow()
    if (!this.#cached || at - this.#cached.at > CACHE_TTL_MS) this.#cached = { at, overview: this.#build() }
    return this.#cached.overview
  }

  /** Returns the overview with the totals of the last hour. */
  async getWithHistory(): Promise<Overview & { history: HourlyPoint[] }> {
    return { ...(await this.getCached()), history: await this.#deps.hourlySeries.list() }
  }

  /** Throws `unknown_run`. */
  async requireRun(name: string): Promise<Run> {
    return this.#deps.views.get(name)
  }

  async #build(): Promise<Overview> {
    const { checkReadiness, totals, backlog, reports } = this.#deps
    const [health, sums, queues, processes] = await Promise.all([
      checkReadiness(),
      totals.read(),
      backlog.readAll(),
      reports.list(),
    ])
    const now = redisNow()
    return {
      at: new Date(now).toISOString(),
      health,
      totals: sums,
      queues: queues.map((queue) => buildQueueOverview(queue, now)),
      processes,
    }
  }
}

function buildQueueOverview({ queue, jobs, oldestAt }: QueueBacklog, now: number): Overview['queues'][number] {
  return { queue, ...jobs, oldest_s: oldestAt === undefined ? 0 : Math.max(0, (now - oldestAt) / 1000) }
}
