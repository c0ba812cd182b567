/** Operations: probes, metrics, the overview, failed jobs, and which processes share this Redis. */
import type { Readiness } from '../../contract/overview.ts'
import type { Engine } from '../../engine/engine.ts'
import { Closers } from '../../platform/closers.ts'
import type { Platform } from '../../platform/platform.ts'
import type { BackgroundWork } from '../../platform/queue/background-work.ts'
import { FailedJobs } from '../../platform/queue/failed-jobs.ts'
import type { JobDefinition } from '../../platform/queue/job-definition.ts'
import type { DumpsFeature } from '../dumps/index.ts'
import type { EvalsFeature } from '../evals/index.ts'
import type { RolloutsFeature } from '../rollouts/index.ts'
import type { RunsFeature } from '../runs/index.ts'
import { type ClaimEngineVersionOptions, claimEngineVersion, type EngineVersionClaim } from './engine-claim.ts'
import { appendHourlyPointSchedule } from './jobs/definitions.ts'
import { Metrics } from './metrics.ts'
import type { ProcessRole } from './process-gauges.ts'
import { checkReadiness } from './readiness.ts'
import { retryFailedJob } from './retry-failed-job.ts'
import { ServerOverview } from './server-overview.ts'
import { startHeartbeat } from './worker-heartbeats.ts'

interface OperationsDeps {
  engine: Engine
  runs: RunsFeature
  rollouts: RolloutsFeature
  evals: EvalsFeature
  dumps: DumpsFeature
  /** Of all features. */
  jobDefinitions: readonly JobDefinition[]
  role: ProcessRole
}

export interface OperationsFeature {
  metrics: Metrics
  overview: ServerOverview
  checkReadiness(): Promise<Readiness>
  listFailedJobs(limit: number): ReturnType<FailedJobs['list']>
  /** Throws `not_found`. */
  retryFailedJob(id: string): Promise<void>
  /** Undefined if processes with another engine version use this Redis. */
  claimEngineVersion(options: Omit<ClaimEngineVersionOptions, 'version'>): Promise<EngineVersionClaim | undefined>
  /** Counts this process as a live worker until it is closed. */
  startHeartbeat(workerName: string): { close(): Promise<void> }
  createWork(): BackgroundWork
  close(): Promise<void>
}

export function createOperations(platform: Platform, deps: OperationsDeps): OperationsFeature {
  const { redis, keys, counters, recorder } = platform
  const { engine, runs, rollouts, evals, dumps, jobDefinitions, role } = deps
  const closers = new Closers()
  const failedJobs = closers.add(new FailedJobs(redis, keys.queuePrefix, jobDefinitions))
  const metrics = closers.add(
    new Metrics({
      redis,
      keys,
      counters,
      recorder,
      engine,
      runs: runs.repository,
      groups: rollouts.groups,
      dumps: dumps.repository,
      generationJobs: evals.generationJobs,
      jobDefinitions,
      role,
    }),
  )
  const readiness = () => checkReadiness({ engine, redis, keys })
  return {
    metrics,
    overview: new ServerOverview({ metrics, runs: runs.runs, checkReadiness: readiness }),
    checkReadiness: readiness,
    listFailedJobs: (limit) => failedJobs.list(limit),
    retryFailedJob: (id) => retryFailedJob({ failedJobs, groups: rollouts.groups }, id),
    claimEngineVersion: (options) => claimEngineVersion(redis, keys, { ...options, version: engine.version }),
    startHeartbeat: (workerName) => startHeartbeat(redis, keys, workerName),
    createWork: () => ({
      consumers: [],
      scheduledTasks: [{ ...appendHourlyPointSchedule, run: () => metrics.appendHourlyPoint() }],
    }),
    close: () => closers.close(),
  }
}
