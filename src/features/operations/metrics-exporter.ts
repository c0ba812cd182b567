/**
 * Builds the response to a Prometheus scrape: the metrics of the processes, and the gauges of the fleet (workers, queues,
 * dumps, runs and evals), which are read from Redis during the scrape.
 */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Redis } from 'ioredis'
import { type FleetGaugeValue, fleetGauge, formatFleetGauges } from '../../platform/metrics/metric-definitions.ts'
import type { QueueBacklog, QueueBacklogReader } from '../../platform/queue/queue-state.ts'
import { pingMasters } from '../../platform/redis/cluster.ts'
import { PROBE_TIMEOUT_MS, withRedisTimeout } from '../../platform/redis/connect.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { translateRedisError } from '../../platform/redis/redis-errors.ts'
import type { DumpRepository } from '../dumps/repository.ts'
import type { GenerationJobRepository } from '../evals/repository.ts'
import type { GroupRepository } from '../rollouts/repository.ts'
import type { RunRepository } from '../runs/repository.ts'
import type { StoredRun } from '../runs/types.ts'
import { countLiveWorkers } from './readiness.ts'
import { collectRunGauges } from './run-gauges.ts'

/** Limit of runs with series of their own: active ones, so that no alert fires for a finished run. A run has up to 105 tasks, so this limits the number of series. */
const MAX_RUNS_WITH_SERIES = 20

interface FleetGaugesDeps {
  redis: Redis
  keys: RedisKeys
  backlog: QueueBacklogReader
  runs: RunRepository
  groups: GroupRepository
  dumps: DumpRepository
  generationJobs: GenerationJobRepository
}

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

/** Collects the gauges. Only visible runs have series of their own; gauges without a run cover all runs. */
async function collectFleetGauges(
  deps: FleetGaugesDeps,
  isRunVisible: (run: string) => boolean,
): Promise<FleetGaugeValue[]> {
  const [workers, queues, dumpBytes, runGauges, evalGauges] = await Promise.all([
    countLiveWorkers(deps.redis, deps.keys),
    deps.backlog.readAll(),
    deps.dumps.readReservedBytes(),
    collectGaugesOfRuns(deps, isRunVisible),
    collectEvalGauges(deps.generationJobs),
  ])
  return [
    fleetGauge('rgs_workers', {}, workers),
    ...queues.flatMap((queue) => buildQueueGauges(queue, redisNow())),
    fleetGauge('rgs_dump_bytes', {}, dumpBytes),
    ...runGauges,
    ...evalGauges,
  ]
}

function buildQueueGauges({ queue, jobs, oldestAt }: QueueBacklog, now: number): FleetGaugeValue[] {
  return [
    ...Object.entries(jobs).map(([state, count]) => fleetGauge('rgs_queue_jobs', { queue, state }, count)),
    fleetGauge(
      'rgs_queue_oldest_job_seconds',
      { queue },
      oldestAt === undefined ? 0 : Math.max(0, now - oldestAt) / 1000,
    ),
  ]
}

async function collectGaugesOfRuns(
  deps: FleetGaugesDeps,
  isRunVisible: (run: string) => boolean,
): Promise<FleetGaugeValue[]> {
  const names = await deps.runs.listNames()
  const runs = await Promise.all(names.filter(isRunVisible).map((name) => deps.runs.get(name)))
  const shown = runs
    .filter((run): run is StoredRun => run?.lifecycle === 'active')
    .toSorted((a, b) => lastActiveAt(b) - lastActiveAt(a))
    .slice(0, MAX_RUNS_WITH_SERIES)
  const gauges = await Promise.all(shown.map((run) => collectRunGauges(run, deps)))
  return [fleetGauge('rgs_runs', {}, names.length), fleetGauge('rgs_runs_shown', {}, shown.length), ...gauges.flat()]
}

function lastActiveAt({ created, counters }: StoredRun): number {
  return Math.max(created, counters.last_accepted_at ?? 0, counters.last_batch_request_at ?? 0)
}

async function collectEvalGauges(generationJobs: GenerationJobRepository): Promise<FleetGaugeValue[]> {
  const kinds = ['eval', 'collection', 'duel'] as const
  const [active, ...idsByKind] = await Promise.all([
    generationJobs.listActive(),
    ...kinds.map((kind) => generationJobs.listIds(kind)),
  ])
  const jobs = (await Promise.all(active.map(({ id }) => generationJobs.get(id)))).filter((job) => job !== undefined)
  return kinds.flatMap((kind, k) => {
    const ids = new Set(idsByKind[k])
    const own = jobs.filter(({ id }) => ids.has(id))
    return [
      fleetGauge('rgs_evals', { kind }, ids.size),
      ...(['queued', 'running'] as const).map((status) =>
        fleetGauge('rgs_evals_active', { kind, status }, own.filter((job) => job.status === status).length),
      ),
      ...(['total', 'done', 'failed'] as const).map((state) =>
        fleetGauge(
          'rgs_evals_active_samples',
          { kind, state },
          own.reduce((sum, job) => sum + job[state], 0),
        ),
      ),
    ]
  })
}
