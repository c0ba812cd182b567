/** The metrics of one process, and its answer for all of them. */
import type { Redis } from 'ioredis'
import { ServiceError } from '../../contract/errors.ts'
import type { Overview } from '../../contract/overview.ts'
import type { Engine } from '../../engine/engine.ts'
import { formatExposition } from '../../platform/metrics/exposition.ts'
import { gaugeValue } from '../../platform/metrics/metric-definitions.ts'
import type { MetricsRecorder } from '../../platform/metrics/metrics-recorder.ts'
import type { SharedCounters } from '../../platform/metrics/shared-counters.ts'
import { QueueBacklogReader } from '../../platform/queue/backlog.ts'
import type { JobDefinition } from '../../platform/queue/job-definition.ts'
import { pingMasters } from '../../platform/redis/cluster.ts'
import { PROBE_TIMEOUT_MS, withRedisTimeout } from '../../platform/redis/connect.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { translateRedisError } from '../../platform/redis/redis-errors.ts'
import { VERSION } from '../../platform/version.ts'
import type { DumpRepository } from '../dumps/repository.ts'
import type { GenerationJobRepository } from '../evals/generation-job-repository.ts'
import type { GroupRepository } from '../rollouts/repository.ts'
import type { RunRepository } from '../runs/repository.ts'
import { computeCounterTotals } from './counter-totals.ts'
import { type HourlyPoint, HourlySeries } from './hourly-series.ts'
import { buildProcessOverview, buildQueueOverview } from './overview.ts'
import { ProcessGauges, type ProcessRole } from './process-gauges.ts'
import { collectRedisGauges } from './redis-gauges.ts'

interface MetricsDeps {
  redis: Redis
  keys: RedisKeys
  counters: SharedCounters
  recorder: MetricsRecorder
  engine: Engine
  runs: RunRepository
  groups: GroupRepository
  dumps: DumpRepository
  generationJobs: GenerationJobRepository
  role: ProcessRole
  jobDefinitions: readonly JobDefinition[]
}

/**
 * Counters and histograms are sums in Redis that every process adds to once a second, so that any process answers for
 * all, and none of them ever falls when a process ends. A process that is killed takes its last second with it.
 */
export class Metrics {
  readonly #deps: MetricsDeps
  readonly #processGauges: ProcessGauges
  readonly #backlog: QueueBacklogReader
  readonly #hourlySeries: HourlySeries

  constructor(parts: MetricsDeps) {
    this.#deps = parts
    this.#processGauges = new ProcessGauges(parts)
    this.#backlog = new QueueBacklogReader(parts.redis, parts.keys.queuePrefix, parts.jobDefinitions)
    this.#hourlySeries = new HourlySeries(parts.redis, parts.keys)
  }

  /**
   * Prometheus text. While Redis is away, or stuck: this process's own gauges, and `rgs_redis_up 0`. Only the ping is
   * bounded: with many runs the rest may take longer, which says nothing about Redis. Only runs that `may` allows are named.
   */
  async scrape(may: (run: string) => boolean): Promise<string> {
    const always = [gaugeValue('rgs_build_info', { version: VERSION, engine: this.#deps.engine.version }, 1)]
    try {
      const [sums, processes, state] = await Promise.all([
        this.#deps.counters.readAll(),
        this.#processGauges.listAll(),
        collectRedisGauges({ ...this.#deps, backlog: this.#backlog }, may),
        withRedisTimeout(PROBE_TIMEOUT_MS, pingMasters(this.#deps.redis)),
      ])
      return await formatExposition(sums, [...always, gaugeValue('rgs_redis_up', {}, 1), ...processes, ...state])
    } catch (error) {
      if (!(translateRedisError(error) instanceof ServiceError)) throw error
      return formatExposition([], [...always, gaugeValue('rgs_redis_up', {}, 0), ...this.#processGauges.listOwn()])
    }
  }

  /** What the first page of the dashboard shows. */
  async overview(): Promise<Pick<Overview, 'totals' | 'queues' | 'processes'>> {
    const [sums, backlog, processes] = await Promise.all([
      this.#deps.counters.readAll(),
      this.#backlog.readAll(),
      this.#processGauges.listAll(),
    ])
    return {
      totals: computeCounterTotals(sums),
      queues: buildQueueOverview(backlog, Date.now()),
      processes: buildProcessOverview(processes),
    }
  }

  /** The totals of the last hour, oldest first. */
  listHourlyPoints(): Promise<HourlyPoint[]> {
    return this.#hourlySeries.list()
  }

  /** Adds the totals of now to those of the last hour. */
  async appendHourlyPoint(): Promise<void> {
    const [sums, backlog] = await Promise.all([this.#deps.counters.readAll(), this.#backlog.readAll()])
    const queued = backlog.reduce((sum, { jobs }) => sum + jobs.waiting + jobs.active + jobs.delayed, 0)
    await this.#hourlySeries.append({ at: new Date().toISOString(), queued, ...computeCounterTotals(sums) })
  }

  async close(): Promise<void> {
    await this.#processGauges.close()
    await this.#backlog.close()
  }
}
