/** What operators see: readiness, metrics, the overview of the server, failed jobs. */
import type { Engine } from '../../engine/engine.ts'
import { Closers } from '../../platform/closers.ts'
import type { Platform } from '../../platform/platform.ts'
import type { JobDefinition } from '../../platform/queue/job-definition.ts'
import { FailedJobs, QueueBacklogReader } from '../../platform/queue/queue-state.ts'
import type { BackgroundWork } from '../../platform/queue/schedules.ts'
import { WriteProbe } from '../../platform/redis/cluster.ts'
import type { DumpsFeature } from '../dumps/index.ts'
import type { EvalsFeature } from '../evals/index.ts'
import type { RolloutsFeature } from '../rollouts/index.ts'
import type { RunsFeature } from '../runs/index.ts'
import type { TasksFeature } from '../tasks/index.ts'
import { type ClaimEngineVersionOptions, claimEngineVersion } from './engine-version-claim.ts'
import { appendHourlyPointSchedule, retryFailedJob } from './jobs.ts'
import { addProcessGauges, createMetricsExporter } from './metrics-exporter.ts'
import { ProcessReports } from './process-reports.ts'
import { checkReadiness, startHeartbeat } from './readiness.ts'
import { FleetTotals, ServerOverview } from './server-overview.ts'

interface OperationsDeps {
  engine: Engine
  tasks: TasksFeature
  runs: RunsFeature
  rollouts: RolloutsFeature
  evals: EvalsFeature
  dumps: DumpsFeature
  jobDefinitions: readonly JobDefinition[]
  /** Returns the Prometheus text of all processes that share a port. Undefined for a single process. */
  scrapeProcessGroup: (() => Promise<string>) | undefined
}

export type OperationsFeature = ReturnType<typeof createOperations>

export function createOperations(platform: Platform, deps: OperationsDeps) {
  const { config, redis, keys, identity, recorder, transfers } = platform
  const { engine, tasks, runs, rollouts, evals, dumps, jobDefinitions, scrapeProcessGroup } = deps
  const closers = new Closers()
  const failedJobs = closers.add(new FailedJobs(redis, keys.queuePrefix, jobDefinitions))
  const backlog = closers.add(new QueueBacklogReader(redis, keys.queuePrefix, jobDefinitions))
  const totals = closers.add(new FleetTotals(redis, keys, recorder))
  const reports = closers.add(new ProcessReports({ redis, keys, engine, recorder, identity }))
  addProcessGauges({ recorder, redis, engine, identity, transfers })
  const fleet = {
    redis,
    keys,
    backlog,
    index: runs.index,
    runs: runs.repository,
    taskStatistics: runs.taskStatistics,
    groups: rollouts.groups,
    dumps: dumps.repository,
    generationJobs: evals.generationJobs,
  }
  const writeProbe = new WriteProbe(redis, keys)
  const readiness = () => checkReadiness({ engine, tasks, redis, keys, writeProbe, replicas: config.REDIS_REPLICAS })
  const overview = new ServerOverview({
    redis,
    keys,
    totals,
    backlog,
    reports,
    views: runs.views,
    checkReadiness: readiness,
  })
  return {
    metrics: createMetricsExporter({
      scrapeProcesses: scrapeProcessGroup ?? (() => recorder.registry.metrics()),
      fleet: identity.role === 'api' ? fleet : undefined,
    }),
    overview,
    checkReadiness: readiness,
    listFailedJobs: (limit: number) => failedJobs.list(limit),
    /** Throws `not_found`. */
    retryFailedJob: (id: string) => retryFailedJob({ failedJobs, groups: rollouts.groups }, id),
    claimEngineVersion: (options: Omit<ClaimEngineVersionOptions, 'version'>) =>
      claimEngineVersion(redis, keys, { ...options, version: engine.version }),
    startHeartbeat: () => startHeartbeat(redis, keys, identity.process),
    createWork: (): BackgroundWork => ({
      consumers: [],
      scheduledTasks: [{ ...appendHourlyPointSchedule, run: () => overview.appendHourlyPoint() }],
    }),
    close: () => closers.close(),
  }
}
