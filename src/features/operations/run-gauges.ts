/** The gauges of one run. */
import type { Diagnosis, FrontierEstimate } from '@reasoning-gym-server/contract/run'
import { resolveSettings } from '@reasoning-gym-server/contract/run-settings'
import { type FleetGaugeValue, fleetGauge } from '../../platform/metrics/metric-definitions.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import type { DumpRepository } from '../dumps/repository.ts'
import type { GroupRepository } from '../rollouts/repository.ts'
import { diagnoseTasks } from '../runs/diagnosis/diagnosis.ts'
import { listWarnings } from '../runs/diagnosis/warnings.ts'
import { runRecord } from '../runs/records.ts'
import { countBatchableRollouts, type RunRepository } from '../runs/repository.ts'
import { isIdle } from '../runs/state.ts'
import type { StoredRun } from '../runs/types.ts'

interface RunGaugesDeps {
  runs: RunRepository
  groups: GroupRepository
  dumps: DumpRepository
}

export async function collectRunGauges(
  run: StoredRun,
  { runs, groups, dumps }: RunGaugesDeps,
): Promise<FleetGaugeValue[]> {
  const [backlog, levels, oldestPendingAt, dumpProgress, outcomes] = await Promise.all([
    runs.readBacklog(run),
    runs.readCurriculumLevels(run),
    groups.getOldestPendingTime(run.name, run.epoch),
    dumps.readProgress({ run: run.name, uuid: run.incarnation }),
    runs.readRecentOutcomes(run),
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
  const oldestQueuedS = oldestPendingAt === undefined ? 0 : (redisNow() - oldestPendingAt) / 1000
  return [
    ...Object.entries(groupCounts).map(([state, count]) => fleetGauge('rgs_run_groups', { ...labels, state }, count)),
    ...Object.entries(batchRollouts).map(([state, count]) =>
      fleetGauge('rgs_run_batch_rollouts', { ...labels, state }, count),
    ),
    fleetGauge('rgs_run_bytes', labels, backlog.bytes),
    fleetGauge('rgs_run_oldest_queued_seconds', labels, oldestQueuedS),
    ...(run.counters.step === undefined ? [] : [fleetGauge('rgs_run_step', labels, run.counters.step)]),
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
    ...listWarnings(outcomes, settings, diagnoses).map(
      ({ task, kind }) => fleetGauge('rgs_run_warning', { ...labels, task, kind }, isIdle(run, backlog) ? 0 : 1), // idle: no alert
    ),
  ]
}

function collectFrontierGauges(
  labels: { run: string; task: string },
  { place, interval: [low = place, high = place], slope, floor }: FrontierEstimate,
): FleetGaugeValue[] {
  return [
    fleetGauge('rgs_frontier_place', labels, place),
    fleetGauge('rgs_frontier_place_low', labels, low),
    fleetGauge('rgs_frontier_place_high', labels, high),
    fleetGauge('rgs_frontier_slope', labels, slope),
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
