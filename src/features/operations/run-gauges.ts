/** The gauges of one run. */

import { resolveSettings } from '../../contract/run.ts'
import { type GaugeValue, gaugeValue } from '../../platform/metrics/metric-definitions.ts'
import type { DumpRepository } from '../dumps/repository.ts'
import type { GroupRepository } from '../rollouts/repository.ts'
import type { RunRepository, StoredRun } from '../runs/repository.ts'

/** Of a run's fields those that are times are told otherwise, or by nobody. */
const NON_COUNTER_FIELD = /_at$|^at_|^last_/

interface RunGaugesDeps {
  runs: RunRepository
  groups: GroupRepository
  dumps: DumpRepository
}

export async function collectRunGauges(run: StoredRun, { runs, groups, dumps }: RunGaugesDeps): Promise<GaugeValue[]> {
  const [waiting, levels, oldest, dumped] = await Promise.all([
    runs.readBacklog(run),
    runs.readCurriculumLevels(run),
    groups.getOldestPendingTime(run.name, run.epoch),
    dumps.readProgress({ run: run.name, uuid: run.uuid }),
  ])
  const { batch_size, unscored_rollouts } = resolveSettings(run.explicitSettings)
  const label = { run: run.name }
  const stock = {
    queued: waiting.queuedGroups,
    buffered: waiting.bufferedGroups,
    in_open_batches: waiting.openBatchGroups,
  }
  const batch = {
    wanted: batch_size,
    buffered: unscored_rollouts === 'omit' ? waiting.bufferedScoredRollouts : waiting.bufferedRollouts,
    queued: waiting.queuedRollouts,
  }
  return [
    ...Object.entries(stock).map(([state, count]) => gaugeValue('rgs_run_groups', { ...label, state }, count)),
    ...Object.entries(batch).map(([of, count]) => gaugeValue('rgs_run_batch_rollouts', { ...label, of }, count)),
    gaugeValue('rgs_run_bytes', label, waiting.bytes),
    gaugeValue('rgs_run_oldest_queued_seconds', label, oldest === undefined ? 0 : (Date.now() - oldest) / 1000),
    ...(run.counters.step === undefined ? [] : [gaugeValue('rgs_run_step', label, run.counters.step)]),
    ...Object.entries(run.counters)
      .filter(([of]) => of !== 'step' && !NON_COUNTER_FIELD.test(of))
      .map(([of, count]) => gaugeValue('rgs_run_counts', { ...label, of }, count)),
    ...Object.entries(dumped).flatMap(([kind, { waiting: waits, written, refused, unwritten }]) => [
      ...Object.entries({ waiting: waits, written, refused }).map(([state, count]) =>
        gaugeValue('rgs_dump_groups', { ...label, kind, state }, count),
      ),
      gaugeValue('rgs_dump_files_unwritten', { ...label, kind }, unwritten),
    ]),
    ...Object.entries(levels).flatMap(([task, { difficulty, accuracy }]) => [
      gaugeValue('rgs_curriculum_difficulty', { ...label, task }, difficulty),
      gaugeValue('rgs_curriculum_accuracy', { ...label, task }, accuracy),
    ]),
  ]
}
