/** Builds the response to a Prometheus scrape. */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { formatFleetGauges } from '../../platform/metrics/registry.ts'
import { pingMasters } from '../../platform/redis/cluster.ts'
import { PROBE_TIMEOUT_MS, withRedisTimeout } from '../../platform/redis/connect.ts'
import { translateRedisError } from '../../platform/redis/redis-errors.ts'
import { collectFleetGauges, type FleetGaugesDeps } from './fleet-gauges.ts'

interface MetricsExporterDeps {
  /** Returns the Prometheus text of this process, or of all processes that one `npm start` runs. */
  scrapeProcesses: () => Promise<string>
  /** Source of the fleet gauges. If undefined, this target exports only the metrics of its processes. */
  fleet: FleetGaugesDeps | undefined
}

export class MetricsExporter {
  readonly #deps: MetricsExporterDeps

  constructor(deps: MetricsExporterDeps) {
    this.#deps = deps
  }

  /** Returns the Prometheus text. Only visible runs have series of their own. */
  async scrape(isRunVisible: (run: string) => boolean): Promise<string> {
    const { scrapeProcesses, fleet } = this.#deps
    const texts = await Promise.all([scrapeProcesses(), fleet && scrapeFleet(fleet, isRunVisible)])
    return texts.filter((text) => text !== undefined).join('\n')
  }
}

/**
 * Returns undefined while Redis is unavailable or does not respond. Only the ping has a timeout: with many runs the
 * rest may take longer, which says nothing about Redis.
 */
async function scrapeFleet(deps: FleetGaugesDeps, isRunVisible: (run: string) => boolean): Promise<string | undefined> {
  try {
    const [gauges] = await Promise.all([
      collectFleetGauges(deps, isRunVisible),
      withRedisTimeout(PROBE_TIMEOUT_MS, pingMasters(deps.redis)),
    ])
    return await formatFleetGauges(gauges)
  } catch (error) {
    if (translateRedisError(error) instanceof ServiceError) return undefined
    throw error
  }
}
