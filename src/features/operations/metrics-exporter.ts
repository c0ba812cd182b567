/**
 * Builds the response to a Prometheus scrape: the metrics and gauges of the processes, and the gauges of the fleet (workers, queues,
 * dumps, runs and evals), which are read from Redis at that moment.
 */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Diagnosis, FrontierEstimate } from '@reasoning-gym-server/contract/run'
import { resolveSettings } from '@reasoning-gym-server/contract/run-settings'
import type { Redis } from 'ioredis'
import type { Registry } from 'prom-client'
import type { Engine } from '../../engine/engine.ts'
import { VERSION } from '../../platform/installation.ts'
import {
  createCounter,
  createGauge,
  type FleetGaugeValue,
  fleetGauge,
  registerFleetGauges,
} from '../../platform/metrics/metric-definitions.ts'
import type { MetricsRecorder } from '../../platform/metrics/metrics-recorder.ts'
import type { Transfers } from '../../platform/platform.ts'
import type { ProcessIdentity } from '../../platform/process-state.ts'
import type { QueueBacklog, QueueState } from '../../platform/queue/queue-state.ts'
import { pingMasters } from '../../platform/redis/cluster.ts'
import { PROBE_TIMEOUT_MS, withRedisTimeout } from '../../platform/redis/connect.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { translateRedisError } from '../../platform/redis/redis-errors.ts'
import { tryReadFrom } from '../../platform/redis/unreadable-entries.ts'
import type { DumpRepository } from '../dumps/repository.ts'
import type { GenerationJobRepository } from '../evals/repository.ts'
import type { GroupRepository } from '../rollouts/repository.ts'
import { diagnoseTasks, listWarnings } from '../runs/diagnosis/diagnosis.ts'
import { listSampleWarnings } from '../runs/diagnosis/sample-warnings.ts'
import { runRecord } from '../runs/records.ts'
import { countBatchableRollouts, type RunRepository } from '../runs/repository.ts'
import type { RunIndex } from '../runs/run-index.ts'
import { isIdle } from '../runs/run-state.ts'
import type { TaskStatistics } from '../runs/task-statistics.ts'
import type { StoredRun } from '../runs/types.ts'
import { countLiveWorkers } from './readiness.ts'

/** Limit of runs with series of their own: active ones, so that no alert fires for a finished run. A run has up to 105 tasks, so this limits the number of series. */
const MAX_RUNS_WITH_SERIES = 20

interface FleetGaugesDeps {
  redis: Redis
  keys: RedisKeys
  queues: QueueState
  index: Pick<RunIndex, 'listByActivity'>
  runs: RunRepository
  taskStatistics: TaskStatistics
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

export function createMetricsExporter({ scrapeProcesses, fleet }: MetricsExporterDeps) {
  return {
    /** Returns the Prometheus text. Only visible runs have series of their own. */
    async scrape(isRunVisible: (run: string) => boolean): Promise<string> {
      const [text, gauges] = await Promise.all([scrapeProcesses(), fleet && readFleet(fleet, isRunVisible)])
      return gauges ? `${text}\n${await gauges.metrics()}` : text
    },
  }
}

/**
 * Returns undefined while Redis is unavailable or does not respond. Only the ping has a timeout: with many runs the
 * rest may take longer, which says nothing about Redis.
 */
async function readFleet(deps: FleetGaugesDeps, isRunVisible: (run: string) => boolean): Promise<Registry | undefined> {
  try {
    const [gauges] = await Promise.all([
      collectFleetGauges(deps, isRunVisible),
      withRedisTimeout(PROBE_TIMEOUT_MS, pingMasters(deps.redis)),
    ])
    return registerFleetGauges(gauges)
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
    deps.queues.readBacklog(),
    deps.dumps.readReservedBytes(),
    collectGaugesOfRuns(deps, isRunVisible),
    collectEvalGauges(deps),
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
  const listed = await deps.index.listByActivity()
  const shown = await listActiveRuns(
    deps,
    listed.map(({ name }) => name).filter((name) => isRunVisible(name)),
  )
  const gauges = await Promise.all(
    shown.map((run) => tryReadFrom(deps.redis, nameRunEntry(deps, run.name), () => collectRunGauges(run, deps))),
  )
  return [
    fleetGauge('rgs_runs', {}, listed.length),
    fleetGauge('rgs_runs_shown', {}, shown.length),
    ...gauges.flatMap((some) => some ?? []),
  ]
}

function nameRunEntry({ keys }: FleetGaugesDeps, name: string): { key: string; name: string } {
  return { key: keys.key('runs'), name }
}

/** Reads the first active ones of the named runs, and not many more. */
async function listActiveRuns(deps: FleetGaugesDeps, names: string[]): Promise<StoredRun[]> {
  const active: StoredRun[] = []
  for (let k = 0; k < names.length && active.length < MAX_RUNS_WITH_SERIES; k += MAX_RUNS_WITH_SERIES) {
    const some = names.slice(k, k + MAX_RUNS_WITH_SERIES)
    const read = await Promise.all(
      some.map((name) => tryReadFrom(deps.redis, nameRunEntry(deps, name), () => deps.runs.get(name))),
    )
    active.push(...read.filter((run) => run?.lifecycle === 'active').filter((run) => run !== undefined))
  }
  return active.slice(0, MAX_RUNS_WITH_SERIES)
}

async function collectEvalGauges({ redis, keys, generationJobs }: FleetGaugesDeps): Promise<FleetGaugeValue[]> {
  const kinds = ['eval', 'collection'] as const
  const [active, ...idsByKind] = await Promise.all([
    generationJobs.listActive(),
    ...kinds.map((kind) => generationJobs.listIds(kind)),
  ])
  const activeIds = active.map(({ id }) => id)
  const read = (id: string) => tryReadFrom(redis, { key: keys.key('evals'), name: id }, () => generationJobs.get(id))
  const jobs = (await Promise.all(activeIds.map(read))).filter((job) => job !== undefined)
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

interface RunGaugesDeps {
  runs: RunRepository
  taskStatistics: TaskStatistics
  groups: GroupRepository
  dumps: DumpRepository
}

async function collectRunGauges(
  run: StoredRun,
  { runs, taskStatistics, groups, dumps }: RunGaugesDeps,
): Promise<FleetGaugeValue[]> {
  const [backlog, levels, oldestPendingAt, dumpProgress, outcomes] = await Promise.all([
    runs.readBacklog(run),
    runs.readCurriculumLevels(run),
    groups.getOldestPendingTime(run.name, run.epoch),
    dumps.readProgress({ run: run.name, uuid: run.incarnation }),
    taskStatistics.readRecentOutcomes(run),
  ])
  const settings = resolveSettings(run.explicitSettings)
  const diagnoses = diagnoseTasks(outcomes)
  const labels = { run: run.name }
  const groupCounts = {
    queued: backlog.queuedGroups,
    buffered: backlog.bufferedGroups,
    in_open_batches: backlog.openBatchGroups,
  }
  const batchRollouts = {
    wanted: settings.batch_size,
    buffered: countBatchableRollouts(backlog, settings),
    queued: backlog.queuedRollouts,
  }
  const step = run.counters.step ?? run.counters.named_step
  const oldestQueuedS = oldestPendingAt === undefined ? 0 : (redisNow() - oldestPendingAt) / 1000
  return [
    ...Object.entries(groupCounts).map(([state, count]) => fleetGauge('rgs_run_groups', { ...labels, state }, count)),
    ...Object.entries(batchRollouts).map(([state, count]) =>
      fleetGauge('rgs_run_batch_rollouts', { ...labels, state }, count),
    ),
    fleetGauge('rgs_run_bytes', labels, backlog.bytes),
    fleetGauge('rgs_run_oldest_queued_seconds', labels, oldestQueuedS),
    ...(step === undefined ? [] : [fleetGauge('rgs_run_step', labels, step)]),
    ...runRecord
      .listMetrics(run.counters)
      .map(([counter, count]) => fleetGauge('rgs_run_counts', { ...labels, counter }, count)),
    ...Object.entries(dumpProgress).flatMap(([kind, { waiting, written, refused: rejected, unwritten }]) => [
      ...Object.entries({ waiting, written, rejected }).map(([state, count]) =>
        fleetGauge('rgs_dump_groups', { ...labels, kind, state }, count),
      ),
      fleetGauge('rgs_dump_files_unwritten', { ...labels, kind }, unwritten),
    ]),
    ...Object.entries(levels).flatMap(([task, { difficulty, accuracy, frontier }]) => [
      fleetGauge('rgs_curriculum_difficulty', { ...labels, task }, difficulty),
      ...(accuracy === undefined ? [] : [fleetGauge('rgs_curriculum_accuracy', { ...labels, task }, accuracy)]),
      ...(frontier && settings.complexity_mode === 'frontier'
        ? collectFrontierGauges({ ...labels, task }, frontier)
        : []),
    ]),
    ...Object.entries(diagnoses).flatMap(([task, diagnosis]) => buildDiagnosisGauges({ ...labels, task }, diagnosis)),
    ...[
      ...listWarnings(outcomes, settings, diagnoses),
      ...listSampleWarnings(backlog.groupSizes, settings.group_size),
    ].map(
      // idle: no alert
      ({ task, kind }) =>
        fleetGauge('rgs_run_warning', { ...labels, task: task ?? '', kind }, isIdle(run, backlog) ? 0 : 1),
    ),
  ]
}

function collectFrontierGauges(
  labels: { run: string; task: string },
  { place, interval: [low = place, high = place], slope, cap, floor }: FrontierEstimate,
): FleetGaugeValue[] {
  return [
    fleetGauge('rgs_frontier_place', labels, place),
    fleetGauge('rgs_frontier_place_low', labels, low),
    fleetGauge('rgs_frontier_place_high', labels, high),
    fleetGauge('rgs_frontier_slope', labels, slope),
    fleetGauge('rgs_frontier_cap', labels, cap),
    fleetGauge('rgs_frontier_floor', labels, floor),
  ]
}

/** Builds the gauges of a diagnosis. Figures without data have no series. */
function buildDiagnosisGauges(labels: { run: string; task: string }, diagnosis: Diagnosis): FleetGaugeValue[] {
  const figures = [
    ['rgs_answer_entropy_bits', diagnosis.answer_entropy],
    ['rgs_constant_groups_ratio', diagnosis.constant_groups],
    ['rgs_lift_ratio', diagnosis.lift],
    ['rgs_hack_gap', diagnosis.hack_gap],
    ['rgs_permuted_score', diagnosis.permuted_score],
  ] as const
  return figures.flatMap(([name, value]) => (value === null ? [] : [fleetGauge(name, labels, value)]))
}

interface ProcessGaugesDeps {
  recorder: MetricsRecorder
  redis: Redis
  engine: Engine
  identity: ProcessIdentity
  transfers: Transfers
}

export function addProcessGauges({
  recorder: { registry },
  redis,
  engine,
  identity,
  transfers,
}: ProcessGaugesDeps): void {
  const labels = { ...identity }
  createGauge(registry, 'rgs_build_info', (gauge) => gauge.set({ version: VERSION, engine: engine.version }, 1))
  createGauge(registry, 'rgs_process_up', (gauge) => gauge.set(labels, 1))
  createGauge(registry, 'rgs_engine_up', (gauge) => gauge.set(labels, engine.health().ok ? 1 : 0))
  createGauge(registry, 'rgs_engine_workers', (gauge) => {
    for (const [kind, { alive }] of Object.entries(engine.pythonWorkers())) gauge.set({ ...labels, kind }, alive)
  })
  createCounter(registry, 'rgs_engine_worker_ends_total', (counter) => {
    counter.reset() // the engine has counted since the process started
    for (const [kind, { ends }] of Object.entries(engine.pythonWorkers()))
      for (const [cause, count] of Object.entries(ends)) counter.inc({ kind, cause }, count)
  })
  if (identity.role === 'api') addTransferGauges(registry, labels, transfers)
  createGauge(registry, 'rgs_redis_up', async (gauge) => {
    const isUp = await withRedisTimeout(PROBE_TIMEOUT_MS, pingMasters(redis)).then(
      () => true,
      () => false,
    )
    gauge.set(isUp ? 1 : 0)
  })
}

function addTransferGauges(
  registry: Registry,
  labels: Record<'process' | 'role', string>,
  { bodies, replies }: Transfers,
): void {
  createGauge(registry, 'rgs_http_large_transfers', (gauge) => {
    gauge.set({ ...labels, direction: 'in' }, bodies.used)
    gauge.set({ ...labels, direction: 'out' }, replies.used)
  })
  createGauge(registry, 'rgs_http_large_transfers_limit', (gauge) => {
    gauge.set({ ...labels, direction: 'in' }, bodies.limit)
    gauge.set({ ...labels, direction: 'out' }, replies.limit)
  })
}
