/** What operators see: readiness, metrics, the overview of the server, failed jobs. */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Engine } from '../../engine/engine.ts'
import { Closers } from '../../platform/closers.ts'
import type { Platform } from '../../platform/platform.ts'
import type { JobDefinition } from '../../platform/queue/job-definition.ts'
import { QueueState } from '../../platform/queue/queue-state.ts'
import type { BackgroundWork, Schedule } from '../../platform/queue/schedules.ts'
import { WriteProbe } from '../../platform/redis/cluster.ts'
import type { DumpsFeature } from '../dumps/index.ts'
import type { EvalsFeature } from '../evals/index.ts'
import type { RolloutsFeature } from '../rollouts/index.ts'
import { listJobGroups, scoreGroupJob } from '../rollouts/jobs.ts'
import type { GroupRepository } from '../rollouts/repository.ts'
import type { RunsFeature } from '../runs/index.ts'
import type { TasksFeature } from '../tasks/index.ts'
import { type ClaimEngineVersionOptions, claimEngineVersion } from './engine-version-claim.ts'
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
  const queues = closers.add(new QueueState(redis, keys.queuePrefix, jobDefinitions))
  const totals = closers.add(new FleetTotals(redis, keys, recorder))
  const reports = closers.add(new ProcessReports({ redis, keys, engine, recorder, identity }))
  addProcessGauges({ recorder, redis, engine, identity, transfers })
  const fleet = {
    redis,
    keys,
    queues,
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
    queues,
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
    listFailedJobs: (limit: number) => queues.listFailed(limit),
    /** Throws `not_found`. */
    retryFailedJob: (id: string) => retryFailedJob({ queues, groups: rollouts.groups }, id),
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

/** Appends a point to the series of the last hour. */
const appendHourlyPointSchedule: Schedule = { name: 'append-hourly-point', everyMs: 10_000 }

/**
 * Retries a failed job: first its group becomes pending again, then the job returns to the queue. Throws `not_found` if
 * there is no such failed job, or its group no longer exists.
 */
async function retryFailedJob(
  { queues, groups }: { queues: QueueState; groups: GroupRepository },
  id: string,
): Promise<void> {
  const failed = await queues.getFailed(id)
  if (!failed) throw unknownJobError(id)
  const { definition, job } = failed
  if (definition.name === scoreGroupJob.name) {
    const arePending = await Promise.all(
      listJobGroups(scoreGroupJob.data.parse(job.data)).map(
        async (group) => (await groups.reopen(group)) || (await groups.get(group))?.status === 'queued',
      ),
    )
    if (!arePending.includes(true)) {
      await job.remove()
      throw unknownJobError(id)
    }
  }
  // Another caller may have retried the job in the meantime. The sweep finds a pending group in any case.
  await job.retry('failed', { resetAttemptsMade: true }).catch(async (error: unknown) => {
    if (await job.isFailed()) throw error
  })
}

function unknownJobError(id: string): ServiceError {
  return new ServiceError('not_found', `There is no failed job ${id}. GET /jobs/failed lists the failed jobs.`)
}
