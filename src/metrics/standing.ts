/** Gauges that Redis knows: queues, runs, curricula. Read when they are asked for, by whoever is asked. */
import type { Backlog } from '../queue/backlog.ts'
import type { DumpBook } from '../store/dumps.ts'
import type { Groups } from '../store/groups.ts'
import type { Runs, StoredRun } from '../store/runs.ts'
import { type Sample, sample } from './catalogue.ts'

/** Runs with series of their own; a run has up to 105 tasks, so that this bounds the series. */
const RUNS_MOST = 20

interface Parts {
  backlog: Backlog
  runs: Runs
  groups: Groups
  dumps: DumpBook
}

export async function standing({ backlog, runs, groups, dumps }: Parts): Promise<Sample[]> {
  const [queues, names] = await Promise.all([backlog.all(), runs.names()])
  const shown = await newest(runs, names)
  const ofRuns = await Promise.all(shown.map((run) => ofRun(run, runs, groups, dumps)))
  const now = Date.now()
  return [
    ...queues.flatMap(({ queue, jobs, oldestAt }) => [
      ...Object.entries(jobs).map(([state, count]) => sample('rgs_queue_jobs', { queue, state }, count)),
      sample('rgs_queue_oldest_job_seconds', { queue }, secondsSince(oldestAt, now)),
    ]),
    sample('rgs_dump_bytes', {}, await dumps.bytes()),
    sample('rgs_runs', {}, names.length),
    sample('rgs_runs_shown', {}, shown.length),
    ...ofRuns.flat(),
  ]
}

async function newest(runs: Runs, names: string[]): Promise<StoredRun[]> {
  const found = await Promise.all(names.map((name) => runs.find(name)))
  const there = found.filter((run) => run !== undefined)
  return there.toSorted((a, b) => b.created - a.created).slice(0, RUNS_MOST)
}

async function ofRun(run: StoredRun, runs: Runs, groups: Groups, dumps: DumpBook): Promise<Sample[]> {
  const now = Date.now()
  const [{ queued, buffered }, levels, oldest, dumped] = await Promise.all([
    runs.waiting(run),
    runs.levels(run),
    groups.oldestPendingAt(run.name, run.epoch),
    dumps.progress({ run: run.name, uuid: run.uuid }),
  ])
  const label = { run: run.name }
  return [
    sample('rgs_run_groups', { ...label, state: 'queued' }, queued),
    sample('rgs_run_groups', { ...label, state: 'buffered' }, buffered),
    sample('rgs_run_oldest_queued_seconds', label, secondsSince(oldest, now)),
    ...Object.entries(dumped).flatMap(([kind, { waiting, written, refused, unwritten }]) => [
      ...Object.entries({ waiting, written, refused }).map(([state, count]) =>
        sample('rgs_dump_groups', { ...label, kind, state }, count),
      ),
      sample('rgs_dump_files_unwritten', { ...label, kind }, unwritten),
    ]),
    ...Object.entries(run.counters).map(([of, count]) => sample('rgs_run_counts', { ...label, of }, count)),
    ...Object.entries(levels).flatMap(([task, { difficulty, accuracy }]) => [
      sample('rgs_curriculum_difficulty', { ...label, task }, difficulty),
      sample('rgs_curriculum_accuracy', { ...label, task }, accuracy),
    ]),
  ]
}

function secondsSince(time: number | undefined, now: number): number {
  return time === undefined ? 0 : Math.max(0, (now - time) / 1000)
}
