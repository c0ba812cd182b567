/** Gauges that Redis knows: queues, runs, evals. Read when they are asked for, by whoever is asked. */

import { type GaugeValue, gaugeValue } from '../../platform/metrics/metric-definitions.ts'
import type { QueueBacklogReader } from '../../platform/queue/backlog.ts'
import type { DumpRepository } from '../dumps/repository.ts'
import type { GenerationJobRepository } from '../evals/generation-job-repository.ts'
import type { GroupRepository } from '../rollouts/repository.ts'
import type { RunRepository, StoredRun } from '../runs/repository.ts'
import { collectRunGauges } from './run-gauges.ts'

/** Runs with series of their own; a run has up to 105 tasks, so that this bounds the series. */
const MAX_RUNS_WITH_SERIES = 20

interface RedisGaugesDeps {
  backlog: QueueBacklogReader
  runs: RunRepository
  groups: GroupRepository
  dumps: DumpRepository
  generationJobs: GenerationJobRepository
}

/** Of the runs only those that `may` allows have series; what has no run is of all. */
export async function collectRedisGauges(parts: RedisGaugesDeps, may: (run: string) => boolean): Promise<GaugeValue[]> {
  const [queues, ofRuns, ofEvals] = await Promise.all([
    parts.backlog.readAll(),
    collectGaugesOfRuns(parts, may),
    collectEvalGauges(parts.generationJobs),
  ])
  const now = Date.now()
  return [
    ...queues.flatMap(({ queue, jobs, oldestAt }) => [
      ...Object.entries(jobs).map(([state, count]) => gaugeValue('rgs_queue_jobs', { queue, state }, count)),
      gaugeValue('rgs_queue_oldest_job_seconds', { queue }, oldestAt === undefined ? 0 : (now - oldestAt) / 1000),
    ]),
    gaugeValue('rgs_dump_bytes', {}, await parts.dumps.readReservedBytes()),
    ...ofRuns,
    ...ofEvals,
  ]
}

async function collectGaugesOfRuns(parts: RedisGaugesDeps, may: (run: string) => boolean): Promise<GaugeValue[]> {
  const names = await parts.runs.listNames()
  const found = await Promise.all(names.filter(may).map((name) => parts.runs.get(name)))
  const shown = found
    .filter((run): run is StoredRun => run !== undefined)
    .toSorted((a, b) => lastActiveAt(b) - lastActiveAt(a))
    .slice(0, MAX_RUNS_WITH_SERIES)
  const samples = await Promise.all(shown.map((run) => collectRunGauges(run, parts)))
  return [gaugeValue('rgs_runs', {}, names.length), gaugeValue('rgs_runs_shown', {}, shown.length), ...samples.flat()]
}

function lastActiveAt({ created, counters }: StoredRun): number {
  return Math.max(created, counters.last_accepted_at ?? 0, counters.last_asked_at ?? 0)
}

async function collectEvalGauges(samplings: GenerationJobRepository): Promise<GaugeValue[]> {
  const [evals, collections, active] = await Promise.all([
    samplings.listIds('eval'),
    samplings.listIds('collection'),
    samplings.listActive(),
  ])
  const found = (await Promise.all(active.map(({ id }) => samplings.get(id)))).filter((one) => one !== undefined)
  const kinds = { eval: new Set(evals), collection: new Set(collections) }
  return Object.entries(kinds).flatMap(([kind, ids]) => {
    const own = found.filter(({ id }) => ids.has(id))
    const sum = (of: 'total' | 'done' | 'failed') => own.reduce((all, one) => all + one[of], 0)
    return [
      gaugeValue('rgs_evals', { kind }, ids.size),
      ...(['queued', 'running'] as const).map((status) =>
        gaugeValue('rgs_evals_active', { kind, status }, own.filter((one) => one.status === status).length),
      ),
      ...(['total', 'done', 'failed'] as const).map((of) =>
        gaugeValue('rgs_evals_active_samples', { kind, of }, sum(of)),
      ),
    ]
  })
}
