/** The gauges of one run. */
import type { DumpBook } from '../store/dumps.ts'
import type { Groups } from '../store/groups.ts'
import type { Runs, StoredRun } from '../store/runs.ts'
import { settingsInForce } from '../words/run.ts'
import { type Sample, sample } from './catalogue.ts'

/** Of a run's fields those that are times are told otherwise, or by nobody. */
const NOT_COUNTS = /_at$|^at_|^last_/

interface Parts {
  runs: Runs
  groups: Groups
  dumps: DumpBook
}

export async function runSamples(run: StoredRun, { runs, groups, dumps }: Parts): Promise<Sample[]> {
  const [waiting, levels, oldest, dumped] = await Promise.all([
    runs.waiting(run),
    runs.levels(run),
    groups.oldestPendingAt(run.name, run.epoch),
    dumps.progress({ run: run.name, uuid: run.uuid }),
  ])
  const { batch_size, unscored_rollouts } = settingsInForce(run.named)
  const label = { run: run.name }
  const stock = { queued: waiting.queued, buffered: waiting.buffered, in_open_batches: waiting.open }
  const batch = {
    wanted: batch_size,
    buffered: unscored_rollouts === 'omit' ? waiting.scored : waiting.rollouts,
    queued: waiting.queuedRollouts,
  }
  return [
    ...Object.entries(stock).map(([state, count]) => sample('rgs_run_groups', { ...label, state }, count)),
    ...Object.entries(batch).map(([of, count]) => sample('rgs_run_batch_rollouts', { ...label, of }, count)),
    sample('rgs_run_bytes', label, waiting.bytes),
    sample('rgs_run_oldest_queued_seconds', label, oldest === undefined ? 0 : (Date.now() - oldest) / 1000),
    ...(run.counters.step === undefined ? [] : [sample('rgs_run_step', label, run.counters.step)]),
    ...Object.entries(run.counters)
      .filter(([of]) => of !== 'step' && !NOT_COUNTS.test(of))
      .map(([of, count]) => sample('rgs_run_counts', { ...label, of }, count)),
    ...Object.entries(dumped).flatMap(([kind, { waiting: waits, written, refused, unwritten }]) => [
      ...Object.entries({ waiting: waits, written, refused }).map(([state, count]) =>
        sample('rgs_dump_groups', { ...label, kind, state }, count),
      ),
      sample('rgs_dump_files_unwritten', { ...label, kind }, unwritten),
    ]),
    ...Object.entries(levels).flatMap(([task, { difficulty, accuracy }]) => [
      sample('rgs_curriculum_difficulty', { ...label, task }, difficulty),
      sample('rgs_curriculum_accuracy', { ...label, task }, accuracy),
    ]),
  ]
}
