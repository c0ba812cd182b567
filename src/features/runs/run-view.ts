/** From what is stored of a run to what its users see of it. */

import type { DumpProgress } from '../../contract/dump.ts'
import type { Run, RunSettings } from '../../contract/run.ts'
import type { EngineHealth } from '../../engine/engine.ts'
import { lengthPercentile } from '../../grading/length-buckets.ts'
import type { RunBacklog } from './repository.ts'
import type { ResolvedRun } from './resolved-run.ts'
import { taskSumsRecord } from './run-record.ts'
import { computeRunState } from './run-state.ts'

const FORMAT_ERROR_PREFIX = taskSumsRecord.constants.format_errors

/** What is read of a run besides the run itself; by task, where it is a record. */
interface RunViewInputs {
  waiting: RunBacklog
  sums: Record<string, Record<string, number>>
  /** Where the curriculum stands. */
  levels: Record<string, { difficulty: number; accuracy: number }>
  /** Where there is no curriculum. */
  accuracies: Record<string, number>
  skipped: Run['skipped']
  dumps: DumpProgress
  engine: EngineHealth
}

type CountField = Exclude<keyof ResolvedRun['counters'], 'format_errors'>

export function buildRunView(
  run: ResolvedRun,
  { waiting, sums, levels, accuracies, skipped, dumps, engine }: RunViewInputs,
): Run {
  const { name, settings, counters } = run
  const count = (field: CountField) => counters[field] ?? 0
  return {
    run: name,
    state: computeRunState(run, waiting, engine),
    settings,
    progress: {
      items: count('items'),
      groups: count('groups'),
      rollouts: count('rollouts'),
      scored_groups: count('scored_groups'),
      failed_groups: count('failed_groups'),
      queued_groups: waiting.queuedGroups,
      buffered_groups: waiting.bufferedGroups,
      step: counters.step ?? null,
      stale_groups: count('stale_groups'),
      no_signal: { easy: count('no_signal_easy'), hard: count('no_signal_hard') },
      faults: counters.format_errors,
      unscored: count('unscored'),
      dumps,
      skipped_positions: count('skipped_positions'),
    },
    batch: buildBatchProgress(settings, counters.step, waiting),
    skipped,
    tasks: Object.fromEntries(
      Object.entries(sums).map(([task, sum]) => {
        const { difficulty = null, accuracy = accuracies[task] ?? null } = levels[task] ?? {}
        return [task, { difficulty, accuracy, ...buildTaskView(sum) }]
      }),
    ),
  }
}

function buildBatchProgress(
  { batch_size, unscored_rollouts }: RunSettings,
  last: number | undefined,
  { bufferedRollouts: rollouts, bufferedScoredRollouts: scored, queuedRollouts }: RunBacklog,
): Run['batch'] {
  const buffered = unscored_rollouts === 'omit' ? scored : rollouts
  const missing = Math.max(0, batch_size - buffered)
  return { step: last === undefined ? 0 : last + 1, wanted: batch_size, buffered, queued: queuedRollouts, missing }
}

function buildTaskView(sums: Record<string, number>): Omit<Run['tasks'][string], 'difficulty' | 'accuracy'> {
  const { groups = 0, rollouts = 0, score = 0, reward = 0, signal = 0, truncated = 0, last_completed_at } = sums
  const mean = (sum: number) => (rollouts === 0 ? null : sum / rollouts)
  return {
    groups,
    rollouts,
    mean_score: mean(score),
    mean_reward: mean(reward),
    signal,
    faults: parseFormatErrorCounts(sums),
    truncated,
    length_p95: lengthPercentile(sums, 0.95),
    last_at: last_completed_at === undefined ? null : new Date(last_completed_at).toISOString(),
  }
}

function parseFormatErrorCounts(counts: Record<string, number>): Record<string, number> {
  const faults = Object.entries(counts).filter(([key]) => key.startsWith(FORMAT_ERROR_PREFIX))
  return Object.fromEntries(faults.map(([key, value]) => [key.slice(FORMAT_ERROR_PREFIX.length), value]))
}
