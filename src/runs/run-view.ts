/** From what is stored of a run to what its users see of it. */
import type { Health } from '../engine/engine.ts'
import { percentile } from '../store/length-buckets.ts'
import type { Waiting } from '../store/runs.ts'
import type { DumpProgress } from '../words/dump.ts'
import type { Run, RunSettings } from '../words/run.ts'
import type { OpenRun } from './open-run.ts'
import { stateOf } from './state.ts'

/** What is read of a run besides the run itself; by task, where it is a record. */
interface Figures {
  waiting: Waiting
  sums: Record<string, Record<string, number>>
  /** Where the curriculum stands. */
  levels: Record<string, { difficulty: number; accuracy: number }>
  /** Where there is no curriculum. */
  accuracies: Record<string, number>
  skipped: Run['skipped']
  dumps: DumpProgress
  engine: Health
}

export function viewOf(run: OpenRun, { waiting, sums, levels, accuracies, skipped, dumps, engine }: Figures): Run {
  const { name, settings, counters } = run
  const count = (key: string) => counters[key] ?? 0
  return {
    run: name,
    state: stateOf(run, waiting, engine),
    settings,
    progress: {
      items: count('items'),
      groups: count('groups'),
      rollouts: count('rollouts'),
      scored_groups: count('scored_groups'),
      failed_groups: count('failed_groups'),
      queued_groups: waiting.queued,
      buffered_groups: waiting.buffered,
      step: counters.step ?? null,
      stale_groups: count('stale_groups'),
      no_signal: { easy: count('no_signal_easy'), hard: count('no_signal_hard') },
      faults: faultsOf(counters),
      unscored: count('unscored'),
      dumps,
      skipped_positions: count('skipped_positions'),
    },
    batch: batchProgress(settings, counters.step, waiting),
    skipped,
    tasks: Object.fromEntries(
      Object.entries(sums).map(([task, sum]) => {
        const { difficulty = null, accuracy = accuracies[task] ?? null } = levels[task] ?? {}
        return [task, { difficulty, accuracy, ...taskView(sum) }]
      }),
    ),
  }
}

function batchProgress(
  { batch_size, unscored_rollouts }: RunSettings,
  last: number | undefined,
  { rollouts, scored, queuedRollouts }: Waiting,
): Run['batch'] {
  const buffered = unscored_rollouts === 'omit' ? scored : rollouts
  const missing = Math.max(0, batch_size - buffered)
  return { step: last === undefined ? 0 : last + 1, wanted: batch_size, buffered, queued: queuedRollouts, missing }
}

function taskView(sums: Record<string, number>): Omit<Run['tasks'][string], 'difficulty' | 'accuracy'> {
  const { groups = 0, rollouts = 0, score = 0, reward = 0, signal = 0, truncated = 0, last_at } = sums
  const mean = (sum: number) => (rollouts === 0 ? null : sum / rollouts)
  return {
    groups,
    rollouts,
    mean_score: mean(score),
    mean_reward: mean(reward),
    signal,
    faults: faultsOf(sums),
    truncated,
    length_p95: percentile(sums, 0.95),
    last_at: last_at === undefined ? null : new Date(last_at).toISOString(),
  }
}

function faultsOf(counts: Record<string, number>): Record<string, number> {
  const faults = Object.entries(counts).filter(([key]) => key.startsWith('fault:'))
  return Object.fromEntries(faults.map(([key, value]) => [key.slice('fault:'.length), value]))
}
