/** Builds the API representation of a run from stored data. */

import type { DumpProgress } from '@reasoning-gym-server/contract/dump'
import type { FrontierEstimate, Run } from '@reasoning-gym-server/contract/run'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import type { EngineHealth } from '../../engine/engine.ts'
import { parseFormatErrorCounts } from '../../grading/group-statistics.ts'
import { lengthPercentile } from '../../grading/length-buckets.ts'
import { meanOfSum } from '../../grading/statistics.ts'
import { diagnose, diagnoseTasks, mergeWindows } from './diagnosis.ts'
import type { GroupOutcome } from './group-outcome.ts'
import { type CurriculumLevel, countBatchableRollouts, type RunBacklog } from './repository.ts'
import type { ResolvedRun } from './resolved-run.ts'
import { computeRunState } from './run-state.ts'
import { listWarnings } from './run-warnings.ts'
import { estimateLearnability, findLatestNumber, type NumberedEvidence } from './sequence/learnability.ts'

/** Inputs of the view besides the run itself. Records are keyed by task. */
interface RunViewInputs {
  backlog: RunBacklog
  sums: Record<string, Record<string, number>>
  /** Levels of tasks with a curriculum. */
  levels: Record<string, CurriculumLevel>
  /** Accuracies of tasks without a curriculum. */
  accuracies: Record<string, number>
  skipped: Run['skipped']
  dumps: DumpProgress
  engine: EngineHealth
  /** The last groups of each task, oldest first. */
  outcomes: Record<string, GroupOutcome[]>
  /** Evidence of the last groups for the sampling. */
  evidence: Record<string, NumberedEvidence[]>
}

const NO_FRONTIER = { place: null, interval: null, slope: null, floor: null } satisfies Record<
  keyof FrontierEstimate,
  null
>

type CountField = Exclude<keyof ResolvedRun['counters'], 'format_errors'>

export function buildRunView(
  run: ResolvedRun,
  { backlog, sums, levels, accuracies, skipped, dumps, engine, outcomes, evidence }: RunViewInputs,
): Run {
  const { name, uuid, settings, counters } = run
  const diagnoses = diagnoseTasks(outcomes)
  const recent = mergeWindows(outcomes)
  const warnings = listWarnings(outcomes, settings, diagnoses)
  const completed = findLatestNumber(evidence)
  const count = (field: CountField) => counters[field] ?? 0
  return {
    run: name,
    incarnation: uuid,
    state: computeRunState(run, { backlog, engine, outcomes, warnings }),
    lifecycle: run.lifecycle,
    settings,
    progress: {
      items: count('items'),
      groups: count('groups'),
      rollouts: count('rollouts'),
      scored_groups: count('scored_groups'),
      failed_groups: count('failed_groups'),
      queued_groups: backlog.queuedGroups,
      open_groups: backlog.openGroups,
      buffered_groups: backlog.bufferedGroups,
      step: counters.step ?? null,
      stale_groups: count('stale_groups'),
      no_signal: {
        easy: count('no_signal_easy'),
        hard: count('no_signal_hard'),
        masked: count('masked_groups'),
        lone_voter: count('lone_voter_groups'),
      },
      faults: counters.format_errors,
      unscored: count('unscored'),
      dumps,
      skipped_positions: count('skipped_positions'),
      skipped_reasons: {
        failed: count('skipped_positions') - count('skipped_eval_items'),
        eval_item: count('skipped_eval_items'),
      },
      passed_over_seeds: { eval_item: count('passed_over_eval_items'), repeat: count('passed_over_repeats') },
      repeated_items: count('repeated_items'),
    },
    batch: buildBatchProgress(settings, counters.step, backlog),
    diagnosis: diagnose(recent),
    warnings,
    skipped,
    tasks: Object.fromEntries(
      [...new Set([...Object.keys(sums), ...Object.keys(levels)])].map((task) => {
        const { difficulty = null, accuracy = accuracies[task] ?? null, frontier } = levels[task] ?? {}
        const estimate = settings.complexity_mode === 'frontier' && frontier ? frontier : NO_FRONTIER
        const learnability = estimateLearnability(evidence[task] ?? [], completed)
        const diagnosis = diagnoses[task] ?? diagnose([])
        return [
          task,
          { difficulty, ...estimate, accuracy, learnability, ...buildTaskView(sums[task] ?? {}), diagnosis },
        ]
      }),
    ),
  }
}

function buildBatchProgress(settings: RunSettings, lastStep: number | undefined, backlog: RunBacklog): Run['batch'] {
  const buffered = countBatchableRollouts(backlog, settings)
  return {
    step: lastStep === undefined ? 0 : lastStep + 1,
    wanted: settings.batch_size,
    buffered,
    queued: backlog.queuedRollouts,
    missing: Math.max(0, settings.batch_size - buffered),
  }
}

function buildTaskView(
  sums: Record<string, number>,
): Omit<Run['tasks'][string], 'difficulty' | 'accuracy' | 'learnability' | 'diagnosis' | keyof FrontierEstimate> {
  const { groups = 0, rollouts = 0, score = 0, reward = 0, signal = 0, truncated = 0, last_completed_at } = sums
  const { skipped_scored: skipped = 0 } = sums
  return {
    groups,
    rollouts,
    skipped,
    mean_score: meanOfSum(score, rollouts - skipped),
    mean_reward: meanOfSum(reward, rollouts),
    signal,
    faults: parseFormatErrorCounts(sums),
    truncated,
    length_p95: lengthPercentile(sums, 0.95),
    last_at: last_completed_at === undefined ? null : new Date(last_completed_at).toISOString(),
  }
}
