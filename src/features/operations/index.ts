/** Operations: probes, metrics, the overview, failed jobs, and the processes that share this Redis. */
import type { Readiness } from '@reasoning-gym-server/contract/overview'
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
import { type ClaimEngineVersionOptions, claimEngineVersion, type EngineVersionClaim } from './engine-version-claim.ts'
import { FleetTotals } from './fleet-totals.ts'
import { HourlySeries } from './hourly-series.ts'
import { appendHourlyPointSchedule, retryFailedJob } from './jobs.ts'
import { MetricsExporter } from './metrics-exporter.ts'
import { addProcessGauges } from './process-gauges.ts'
import { ProcessReports } from './process-reports.ts'
import { checkReadiness, startHeartbeat } from './readiness.ts'
import { ServerOverview } from './server-overview.ts'

interface OperationsDeps {
  engine: Engine
  runs: RunsFeature
  rollouts: RolloutsFeature
  evals: EvalsFeature
  dumps: DumpsFeature
  /** Job definitions of all features. */
  jobDefinitions: readonly JobDefinition[]
  /** Returns the Prometheus text of all processes that share a port. Undefined for a single process. */
  scrapeProcessGroup: (() => Promise<string>) | undefined
}

export interface OperationsFeature {
  metrics: MetricsExporter
  overview: ServerOverview
  checkReadiness: () => Promise<Readiness>
  listFailedJobs(limit: number): ReturnType<FailedJobs['list']>
  /** Throws `not_found`. */
  retryFailedJob(id: string): Promise<void>
  /** Returns undefined if processes with another engine version use this Redis. */
  claimEngineVersion(options: Omit<ClaimEngineVersionOptions, 'version'>): Promise<EngineVersionClaim | undefined>
  /** Counts this process as a live worker until it is closed. */
  startHeartbeat(): { close(): Promise<void> }
  createWork(): BackgroundWork
  close(): Promise<void>
}

export function createOperations(platform: Platform, deps: OperationsDeps): OperationsFeature {
  const { config, redis, keys, identity, recorder, clientMemory } = platform
  const { engine, runs, rollouts, evals, dumps, jobDefinitions, scrapeProcessGroup } = deps
  const closers = new Closers()
  const failedJobs = closers.add(new FailedJobs(redis, keys.queuePrefix, jobDefinitions))
  const backlog = closers.add(new QueueBacklogReader(redis, keys.queuePrefix, jobDefinitions))
  const totals = closers.add(new FleetTotals(redis, keys, recorder))
  const reports = closers.add(new ProcessReports({ redis, keys, engine, recorder, identity }))
  const hourlySeries = new HourlySeries({ redis, keys, totals, backlog })
  addProcessGauges({ recorder, redis, engine, identity, clientMemory })
  const fleet = {
    redis,
    keys,
    backlog,
    runs: runs.repository,
    groups: rollouts.groups,
    dumps: dumps.repository,
    generationJobs: evals.generationJobs,
  }
  const writeProbe = new WriteProbe(redis, keys)
  const readiness = () => checkReadiness({ engine, redis, keys, writeProbe, replicas: config.REDIS_REPLICAS })
  return {
    metrics: new MetricsExporter({
      scrapeProcesses: scrapeProcessGroup ?? (() => recorder.registry.metrics()),
      fleet: identity.role === 'api' ? fleet : undefined,
    }),
    overview: new ServerOverview({
      totals,
      backlog,
      reports,
      hourlySeries,
      views: runs.views,
      checkReadiness: readiness,
    }),
    checkReadiness: readiness,
    listFailedJobs: (limit) => failedJobs.list(limit),
    retryFailedJob: (id) => retryFailedJob({ failedJobs, groups: rollouts.groups }, id),
    claimEngineVersion: (options) => claimEngineVersion(redis, keys, { ...options, version: engine.version }),
    startHeartbeat: () => startHeartbeat(redis, keys, identity.process),
    createWork: () => ({
      consumers: [],
      scheduledTasks: [{ ...appendHourlyPointSchedule, run: () => hourlySeries.appendPoint() }],
    }),
    close: () => closers.close(),
  }
}
