/** The server at a glance, as `GET /overview` and `GET /events` show it. */
import type { Overview, Readiness } from '../../contract/overview.ts'
import type { Run } from '../../contract/run.ts'
import type { Runs } from '../runs/runs.ts'
import type { HourlyPoint } from './hourly-series.ts'
import type { Metrics } from './metrics.ts'

/** One reading of Redis serves all listeners for as long. */
const CACHE_TTL_MS = 1000

interface ServerOverviewDeps {
  metrics: Metrics
  runs: Runs
  checkReadiness(): Promise<Readiness>
}

export class ServerOverview {
  readonly #deps: ServerOverviewDeps
  #cached: { at: number; overview: Promise<Overview> } | undefined

  constructor(deps: ServerOverviewDeps) {
    this.#deps = deps
  }

  /** At most a second old. */
  getCached(): Promise<Overview> {
    const at = Date.now()
    if (!this.#cached || at - this.#cached.at > CACHE_TTL_MS) this.#cached = { at, overview: this.#build() }
    return this.#cached.overview
  }

  /** With the totals of the last hour. */
  async getWithHistory(): Promise<Overview & { history: HourlyPoint[] }> {
    return { ...(await this.getCached()), history: await this.#deps.metrics.listHourlyPoints() }
  }

  /** Throws `unknown_run`. */
  async requireRun(name: string): Promise<Run> {
    const { runs } = this.#deps
    return runs.buildView(await runs.require(name))
  }

  async #build(): Promise<Overview> {
    const [health, figures] = await Promise.all([this.#deps.checkReadiness(), this.#deps.metrics.overview()])
    return { at: new Date().toISOString(), health, ...figures }
  }
}
