/** The gauges of the fleet: workers, queues, dumps, runs and evals. They are read from Redis during a scrape. */
import type { Redis } from 'ioredis'
import { type FleetGaugeValue, fleetGauge } from '../../platform/metrics/metric-definitions.ts'
import type { QueueBacklog, QueueBacklogReader } from '../../platform/queue/backlog.ts'
import { fleetNow } from '../../platform/redis/fleet-clock.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import type { DumpRepository } from '../dumps/repository.ts'
import type { GenerationJobRepository } from '../evals/repository.ts'
import type { GroupRepository } from '../rollouts/repository.ts'
import type { RunRepository, StoredRun } from '../runs/repository.ts'
import { collectRunGauges } from './run-gauges.ts'
import { countLiveWorkers } from './worker-heartbeats.ts'

/** Limit of runs with series of their own: active ones, so that no alert fires for a finished run. A run has up to 105 tasks, so this limits the number of series. */
const MAX_RUNS_WITH_SERIES = 20

export interface FleetGaugesDeps {
  redis: Redis
  keys: RedisKeys
  backlog: QueueBacklogReader
  runs: RunRepository
  groups: GroupRepository
  dumps: DumpRepository
  generationJobs: GenerationJobRepository
}

/** Collects the gauges. Only visible runs have series of their own; gauges without a run cover all runs. */
export async function collectFleetGauges(
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
    ...queues.flatMap((queue) => buildQueueGauges(queue, fleetNow())),
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
