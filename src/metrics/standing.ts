/** Gauges that Redis knows: queues, runs, evals. Read when they are asked for, by whoever is asked. */
import type { Backlog } from '../queue/backlog.ts'
import type { DumpBook } from '../store/dumps.ts'
import type { Groups } from '../store/groups.ts'
import type { Runs, StoredRun } from '../store/runs.ts'
import type { Samplings } from '../store/samplings.ts'
import { type Sample, sample } from './catalogue.ts'
import { runSamples } from './run-samples.ts'

/** Runs with series of their own; a run has up to 105 tasks, so that this bounds the series. */
const RUNS_MOST = 20

interface Standing {
  backlog: Backlog
  runs: Runs
  groups: Groups
  dumps: DumpBook
  samplings: Samplings
}

/** Of the runs only those that `may` allows have series; what has no run is of all. */
export async function standing(parts: Standing, may: (run: string) => boolean): Promise<Sample[]> {
  const [queues, ofRuns, ofEvals] = await Promise.all([
    parts.backlog.all(),
    runsOf(parts, may),
    evalsOf(parts.samplings),
  ])
  const now = Date.now()
  return [
    ...queues.flatMap(({ queue, jobs, oldestAt }) => [
      ...Object.entries(jobs).map(([state, count]) => sample('rgs_queue_jobs', { queue, state }, count)),
      sample('rgs_queue_oldest_job_seconds', { queue }, oldestAt === undefined ? 0 : (now - oldestAt) / 1000),
    ]),
    sample('rgs_dump_bytes', {}, await parts.dumps.bytes()),
    ...ofRuns,
    ...ofEvals,
  ]
}

async function runsOf(parts: Standing, may: (run: string) => boolean): Promise<Sample[]> {
  const names = await parts.runs.names()
  const found = await Promise.all(names.filter(may).map((name) => parts.runs.find(name)))
  const shown = found
    .filter((run): run is StoredRun => run !== undefined)
    .toSorted((a, b) => activeAt(b) - activeAt(a))
    .slice(0, RUNS_MOST)
  const samples = await Promise.all(shown.map((run) => runSamples(run, parts)))
  return [sample('rgs_runs', {}, names.length), sample('rgs_runs_shown', {}, shown.length), ...samples.flat()]
}

function activeAt({ created, counters }: StoredRun): number {
  return Math.max(created, counters.last_accepted_at ?? 0, counters.last_asked_at ?? 0)
}

async function evalsOf(samplings: Samplings): Promise<Sample[]> {
  const [evals, collections, active] = await Promise.all([
    samplings.ids('eval'),
    samplings.ids('collection'),
    samplings.active(),
  ])
  const found = (await Promise.all(active.map(({ id }) => samplings.find(id)))).filter((one) => one !== undefined)
  const kinds = { eval: new Set(evals), collection: new Set(collections) }
  return Object.entries(kinds).flatMap(([kind, ids]) => {
    const own = found.filter(({ id }) => ids.has(id))
    const sum = (of: 'total' | 'done' | 'failed') => own.reduce((all, one) => all + one[of], 0)
    return [
      sample('rgs_evals', { kind }, ids.size),
      ...(['queued', 'running'] as const).map((status) =>
        sample('rgs_evals_active', { kind, status }, own.filter((one) => one.status === status).length),
      ),
      ...(['total', 'done', 'failed'] as const).map((of) => sample('rgs_evals_active_samples', { kind, of }, sum(of))),
    ]
  })
}
