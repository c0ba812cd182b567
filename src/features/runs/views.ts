/** Runs as `GET /runs/{run}` shows them. */
import { type Caller, canAccessRun } from '@reasoning-gym-server/contract/caller'
import type {
  CurriculumPoint,
  FrontierEstimate,
  Run,
  RunCondition,
  RunSummary,
} from '@reasoning-gym-server/contract/run'
import type { RunMark, RunMix } from '@reasoning-gym-server/contract/run-control'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import type { Engine } from '../../engine/engine.ts'
import { lengthPercentile, parseFormatFaultCounts } from '../../grading/group-statistics.ts'
import { meanOfSum } from '../../grading/statistics.ts'
import { memoizeByIdentity, shareNextRun } from '../../platform/shared-results.ts'
import type { FrontierCurriculum } from './curriculum/frontier-curriculum.ts'
import { diagnose, diagnoseTasks, listWarnings, mergeWindows } from './diagnosis/diagnosis.ts'
import { listSampleWarnings } from './diagnosis/sample-warnings.ts'
import type { RunMarks } from './marks.ts'
import { countBatchableRollouts, type RunBacklog, type RunRepository } from './repository.ts'
import { computeRunState } from './run-state.ts'
import type { Runs } from './runs.ts'
import { estimateLearnability, findLatestNumber } from './sequence/learnability.ts'
import type { PositionRepository } from './sequence/positions.ts'
import type { TaskStatistics } from './task-statistics.ts'
import type { ResolvedRun, RunDumps } from './types.ts'

const NO_FRONTIER = { place: null, interval: null, slope: null, cap: null, floor: null } satisfies Record<
  keyof FrontierEstimate,
  null
>

type CountField = Exclude<keyof ResolvedRun['counters'], 'format_faults'>

interface RunViewsDeps {
  runs: Pick<Runs, 'require'>
  marks: Pick<RunMarks, 'list'>
  repository: RunRepository
  taskStatistics: TaskStatistics
  positions: PositionRepository
  frontier: Pick<FrontierCurriculum, 'fold'>
  dumps: RunDumps
  engine: Pick<Engine, 'health'>
}

export class RunViews {
  readonly #deps: RunViewsDeps
  /** Hundreds of workers poll one run, so concurrent calls share one read. */
  readonly #getShared: (name: string) => Promise<Run>

  constructor(deps: RunViewsDeps) {
    this.#deps = deps
    this.#getShared = shareNextRun(async (name: string) => this.build(await deps.runs.require(name)), {
      keyOf: (name) => name,
    })
  }

  /** Throws `unknown_run`, and `run_recreated` if the run does not meet the condition. */
  async get(name: string, condition?: RunCondition): Promise<Run> {
    if (condition === undefined) return this.#getShared(name)
    return this.build(await this.#deps.runs.require(name, condition))
  }

  /**
   * Opens pages of the points of the curriculum's history, oldest first, optionally of one task. Throws `unknown_run`
   * and `run_recreated` before the first page.
   */
  async openCurriculumPoints(
    name: string,
    task: string | undefined,
    condition?: RunCondition,
  ): Promise<AsyncIterable<CurriculumPoint[]>> {
    const { runs, repository } = this.#deps
    const run = await runs.require(name, condition)
    await this.#foldIfPossible(run)
    return filterPoints(repository.readCurriculumHistory(run), task)
  }

  /** Lists the last mixes of tasks, oldest first. Throws `unknown_run` and `run_recreated`. */
  async listMixes(name: string, limit: number, condition?: RunCondition): Promise<{ mixes: RunMix[] }> {
    const { runs, repository } = this.#deps
    return { mixes: await repository.readMixes(await runs.require(name, condition), limit) }
  }

  /** Lists the events to annotate on charts of a run, oldest first. Throws `unknown_run` and `run_recreated`. */
  async listMarks(name: string, condition?: RunCondition): Promise<{ marks: RunMark[] }> {
    const { runs, marks } = this.#deps
    return { marks: await marks.list(await runs.require(name, condition)) }
  }

  async build(run: ResolvedRun): Promise<Run> {
    await this.#foldIfPossible(run)
    return buildRunView(run, await readInputs(this.#deps, run))
  }

  /** Builds the view of a run that a call has changed. */
  async buildFor(caller: Caller, run: ResolvedRun): Promise<Run> {
    return omitForeignForks(await this.build(run), caller)
  }

  /** Folds evidence if Redis accepts writes. Otherwise, readers see the frontiers as last folded. */
  async #foldIfPossible(run: ResolvedRun): Promise<void> {
    await this.#deps.frontier.fold(run).catch(() => {})
  }
}

/** A key that is bound to runs sees no other forks. */
export function omitForeignForks(run: Run, caller: Caller): Run {
  return { ...run, forks: run.forks.filter((name) => canAccessRun(caller, name)) }
}

async function* filterPoints(pages: AsyncIterable<CurriculumPoint[]>, task: string | undefined) {
  for await (const points of pages) yield task === undefined ? points : points.filter((point) => point.task === task)
}

/** Reads what the view shows besides the run itself. Records are keyed by task. */
async function readInputs({ repository, taskStatistics, positions, dumps, engine }: RunViewsDeps, run: ResolvedRun) {
  const [backlog, sums, levels, skipped, accuracies, progress, outcomes, evidence, forks] = await Promise.all([
    repository.readBacklog(run),
    taskStatistics.readSums(run),
    repository.readCurriculumLevels(run),
    positions.listSkipped(run),
    repository.readRecentAccuracies(run),
    dumps.getProgress(run),
    taskStatistics.readRecentOutcomes(run),
    repository.readLearnability(run),
    repository.listForks(run),
  ])
  return {
    forks,
    backlog,
    sums,
    levels,
    skipped,
    accuracies,
    dumps: progress,
    outcomes,
    evidence,
    engine: engine.health(),
  }
}

function buildRunView(
  run: ResolvedRun,
  {
    backlog,
    sums,
    levels,
    accuracies,
    skipped,
    dumps,
    engine,
    outcomes,
    evidence,
    forks,
  }: Awaited<ReturnType<typeof readInputs>>,
): Run {
  const { name, incarnation, settings, counters } = run
  const diagnoses = diagnoseTasks(outcomes)
  const recent = mergeWindows(outcomes)
  const warnings = [
    ...listWarnings(outcomes, settings, diagnoses),
    ...listSampleWarnings(backlog.groupSizes, settings.group_size),
  ]
  const completed = findLatestNumber(evidence)
  const count = (field: CountField) => counters[field] ?? 0
  return {
    run: name,
    incarnation,
    state: computeRunState(run, { backlog, engine, outcomes, warnings }),
    lifecycle: run.lifecycle,
    settings,
    progress: {
      ...buildProgressSummary(run, backlog),
      stale_groups: count('stale_groups'),
      no_signal: {
        easy: count('no_signal_easy'),
        hard: count('no_signal_hard'),
        masked: count('masked_groups'),
        lone_voter: count('lone_voter_groups'),
      },
      faults: counters.format_faults,
      unscored: count('unscored'),
      substituted_rewards: backlog.groupSizes.substituted ?? 0,
      dumps,
      skipped_positions: count('skipped_positions'),
      skipped_reasons: {
        failed: count('skipped_positions') - count('skipped_eval_items'),
        eval_item: count('skipped_eval_items'),
      },
      passed_over_seeds: {
        eval_item: count('passed_over_eval_items'),
        repeat: count('passed_over_repeats'),
        no_right_answer: count('passed_over_unanswerable'),
      },
      repeated_items: count('repeated_items'),
    },
    batch: buildBatchProgress(settings, counters.step, backlog),
    diagnosis: diagnose(recent),
    warnings,
    skipped,
    forked_from: run.forkedFrom ?? null,
    forks,
    tasks: Object.fromEntries(
      [...new Set([...Object.keys(sums), ...Object.keys(levels)])].map((task) => {
        const { difficulty = null, accuracy = accuracies[task] ?? null, frontier } = levels[task] ?? {}
        const estimate = settings.complexity_mode === 'frontier' && frontier ? frontier : NO_FRONTIER
        const learnability = estimateLearnability(evidence[task] ?? [], completed)
        const diagnosis = diagnoses[task] ?? diagnose([])
        return [
          task,
          { difficulty, ...estimate, accuracy, learnability, ...buildTaskView(sums[task] ?? NO_SUMS), diagnosis },
        ]
      }),
    ),
  }
}

/** The part of the progress that lists of runs show as well. */
export function buildProgressSummary({ counters }: ResolvedRun, backlog: RunBacklog): RunSummary['progress'] {
  const { items = 0, groups = 0, rollouts = 0, scored_groups = 0, failed_groups = 0, step, named_step } = counters
  return {
    items,
    groups,
    rollouts,
    scored_groups,
    failed_groups,
    queued_groups: backlog.queuedGroups,
    open_groups: backlog.openGroups,
    buffered_groups: backlog.bufferedGroups,
    step: step ?? named_step ?? null,
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

type TaskView = Omit<
  Run['tasks'][string],
  'difficulty' | 'accuracy' | 'learnability' | 'diagnosis' | keyof FrontierEstimate
>

const NO_SUMS: Record<string, number> = {}

const buildTaskView = memoizeByIdentity((sums: Record<string, number>): TaskView => {
  const { groups = 0, scored = 0, score = 0, reward = 0, signal = 0, truncated = 0, last_completed_at } = sums
  const { skipped_scored = 0, skipped_score = 0 } = sums
  return {
    groups,
    rollouts: scored,
    skipped: skipped_scored,
    mean_score: meanOfSum(score - skipped_score, scored - skipped_scored),
    mean_reward: meanOfSum(reward, scored),
    signal,
    faults: parseFormatFaultCounts(sums),
    truncated,
    length_p95: lengthPercentile(sums, 0.95),
    last_at: last_completed_at === undefined ? null : new Date(last_completed_at).toISOString(),
  }
})
