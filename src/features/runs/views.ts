/** Runs as `GET /runs` and `GET /runs/{run}` show them, with their state and one sentence that explains why a run stalls. */
import type {
  CurriculumPoint,
  FrontierEstimate,
  Run,
  RunCondition,
  RunState,
  RunWarning,
} from '@reasoning-gym-server/contract/run'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import pMap from 'p-map'
import type { Engine, EngineHealth } from '../../engine/engine.ts'
import { lengthPercentile, parseFormatErrorCounts } from '../../grading/group-statistics.ts'
import { meanOfSum } from '../../grading/statistics.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { shareNextRun } from '../../platform/share-next-run.ts'
import type { FrontierCurriculum } from './curriculum/frontier-curriculum.ts'
import { diagnose, diagnoseTasks, explainMissingSignal, listWarnings, mergeWindows } from './diagnosis/diagnosis.ts'
import type { GroupOutcome } from './diagnosis/group-outcome.ts'
import { countBatchableRollouts, countBufferOccupancy, type RunBacklog, type RunRepository } from './repository.ts'
import { CONCURRENT_RUN_READS, type Runs } from './runs.ts'
import { estimateLearnability, findLatestNumber } from './sequence/learnability.ts'
import type { PositionRepository } from './sequence/positions.ts'
import type { ResolvedRun, RunDumps, StoredRun } from './types.ts'

const NO_FRONTIER = { place: null, interval: null, slope: null, floor: null } satisfies Record<
  keyof FrontierEstimate,
  null
>

type CountField = Exclude<keyof ResolvedRun['counters'], 'format_errors'>

interface RunViewsDeps {
  runs: Pick<Runs, 'require' | 'list'>
  repository: RunRepository
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

  /** Lists the runs whose names `isVisible` accepts, with the archived ones only on request. */
  async list(isVisible: (name: string) => boolean, { archived }: { archived: boolean }): Promise<Run[]> {
    const runs = await this.#deps.runs.list(isVisible)
    const listed = runs.filter(({ lifecycle }) => archived || lifecycle !== 'archived')
    return pMap(listed, (run) => this.build(run), { concurrency: CONCURRENT_RUN_READS })
  }

  /**
   * Lists the points of the curriculum's history, oldest first, optionally of one task. Throws `unknown_run` and
   * `run_recreated`.
   */
  async listCurriculumPoints(
    name: string,
    task: string | undefined,
    condition?: RunCondition,
  ): Promise<CurriculumPoint[]> {
    const { runs, repository } = this.#deps
    const run = await runs.require(name, condition)
    await this.#foldIfPossible(run)
    const points = await repository.readCurriculumHistory(run)
    return task === undefined ? points : points.filter((point) => point.task === task)
  }

  async build(run: ResolvedRun): Promise<Run> {
    await this.#foldIfPossible(run)
    return buildRunView(run, await readInputs(this.#deps, run))
  }

  /** Folds evidence if Redis accepts writes. Otherwise, readers see the frontiers as last folded. */
  async #foldIfPossible(run: ResolvedRun): Promise<void> {
    await this.#deps.frontier.fold(run).catch(() => {})
  }
}

/** Reads what the view shows besides the run itself. Records are keyed by task. */
async function readInputs({ repository, positions, dumps, engine }: RunViewsDeps, run: ResolvedRun) {
  const [backlog, sums, levels, skipped, accuracies, progress, outcomes, evidence] = await Promise.all([
    repository.readBacklog(run),
    repository.readTaskSums(run),
    repository.readCurriculumLevels(run),
    positions.listSkipped(run),
    repository.readRecentAccuracies(run),
    dumps.getProgress(run),
    repository.readRecentOutcomes(run),
    repository.readLearnability(run),
  ])
  return { backlog, sums, levels, skipped, accuracies, dumps: progress, outcomes, evidence, engine: engine.health() }
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
  }: Awaited<ReturnType<typeof readInputs>>,
): Run {
  const { name, incarnation, settings, counters } = run
  const diagnoses = diagnoseTasks(outcomes)
  const recent = mergeWindows(outcomes)
  const warnings = listWarnings(outcomes, settings, diagnoses)
  const completed = findLatestNumber(evidence)
  const count = (field: CountField) => counters[field] ?? 0
  return {
    run: name,
    incarnation,
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

/** Reports a run as inactive after this time without rollouts or without a request from a trainer. */
const INACTIVITY_MS = 60_000
/** Time after a request for a batch in which its trainer counts as waiting: requests wait for up to a minute each. */
const TRAINER_WAIT_MS = 90_000
/** Reports missing signal after this many consecutive groups. */
const NO_SIGNAL_THRESHOLD = 8
/** Reports a lost run that was created again for this long, unless it is configured earlier. */
const RECREATED_MS = 24 * 60 * 60 * 1000

type TimeField = Extract<keyof ResolvedRun['counters'], `last_${string}_at`>

interface RunStateInputs {
  backlog: RunBacklog
  engine: EngineHealth
  /** The last groups of each task, oldest first. */
  outcomes: Readonly<Record<string, GroupOutcome[]>>
  warnings: readonly RunWarning[]
}

/** Returns the first state that applies. Problems of the whole server come before problems of one side. */
export function computeRunState(
  run: ResolvedRun,
  { backlog, engine, outcomes, warnings }: RunStateInputs,
  now = redisNow(),
): RunState {
  const { settings, counters, created, recreatedAt } = run
  const timeOf = (name: TimeField) => counters[name] ?? created
  const state = (is: RunState['is'], since: number, why: string): RunState => ({
    is,
    since: new Date(since).toISOString(),
    why,
  })
  const bufferedGroups = countBufferOccupancy(backlog)
  const readyRollouts = countBatchableRollouts(backlog, settings)
  const lastRequestAt = Math.max(timeOf('last_batch_request_at'), timeOf('last_batch_at'))
  if (run.lifecycle !== 'active')
    return state('finished', run.lifecycleAt ?? created, `The run was ${EXPLANATIONS[run.lifecycle]}.`)
  if (!engine.ok) return state('engine_down', now, `The engine is down: ${engine.detail ?? 'it is not responding'}.`)
  if (recreatedAt !== undefined && now - recreatedAt < RECREATED_MS) {
    return state(
      'recreated',
      recreatedAt,
      'Redis lost this run, and a call that used it recreated it with the default settings: restore a checkpoint, or PUT its settings with ?restart=true.',
    )
  }
  if (bufferedGroups >= settings.buffer_max_groups) {
    const isStuck =
      readyRollouts < settings.batch_size && backlog.queuedForBuffer === 0 && backlog.openBatchGroups === 0
    return state(
      'buffer_full',
      timeOf('last_accepted_at'),
      `${bufferedGroups} groups wait for a trainer, as many as buffer_max_groups allows${isStuck ? explainStuckBuffer(readyRollouts, settings.batch_size) : ''}.`,
    )
  }
  const hasNoRollouts = isWithoutRollouts(run, backlog, now)
  const why =
    counters.last_accepted_at === undefined ? 'No rollouts have arrived yet' : 'No rollouts have arrived recently'
  const isTrainerWaiting = hasWaitingTrainer(run, now)
  if (isIdle(run, backlog, now)) {
    const ready = readyRollouts > 0 ? ` ${readyRollouts} rollouts are ready for a batch.` : ''
    const since = Math.max(timeOf('last_accepted_at'), counters.last_batch_request_at ?? 0)
    return state('idle', since, `${why}${isTrainerWaiting ? '' : ', and no trainer waits for a batch'}.${ready}`)
  }
  if (readyRollouts >= settings.batch_size && now - lastRequestAt > INACTIVITY_MS) {
    return state(
      'trainer_silent',
      lastRequestAt,
      `${readyRollouts} rollouts are ready, but no trainer has requested a batch recently.`,
    )
  }
  if ((counters.last_request_stale_groups ?? 0) > 0 && readyRollouts < settings.batch_size) {
    const lag = `older than max_policy_lag (${settings.max_policy_lag})`
    return state(
      'all_stale',
      timeOf('last_batch_request_at'),
      `The last batch request dropped ${counters.last_request_stale_groups} groups that were ${lag}; the rest were too few for a batch.`,
    )
  }
  const failed = counters.groups_since_scored ?? 0
  if (failed >= NO_SIGNAL_THRESHOLD || (failed > 0 && counters.scored_groups === undefined)) {
    return state(
      'no_signal',
      timeOf('last_scored_at'),
      `The last ${failed} groups failed: none of their rollouts could be scored; GET /runs/{run}/groups shows why.`,
    )
  }
  const groupsWithoutSignal = counters.groups_since_signal ?? 0
  if (groupsWithoutSignal >= NO_SIGNAL_THRESHOLD) {
    return state(
      'no_signal',
      timeOf('last_signal_at'),
      `The last ${groupsWithoutSignal} groups carry no signal: ${explainMissingSignal(outcomes, groupsWithoutSignal)}.`,
    )
  }
  if (hasNoRollouts) {
    return state('starved_of_rollouts', timeOf('last_accepted_at'), `A trainer waits for a batch. ${why}.`)
  }
  const [warning] = warnings
  if (warning) return state('suspicious', timeOf('last_scored_at'), warning.why)
  return state('flowing', timeOf('last_batch_at'), 'Rollouts come in and are scored.')
}

const EXPLANATIONS = { finished: 'marked finished', archived: 'archived' } as const

/** Whether no client waits for the run: no rollouts arrive, and no trainer asks for a batch. A new run is idle as well. */
export function isIdle(run: StoredRun, backlog: RunBacklog, now = redisNow()): boolean {
  const isNew = now - (run.counters.last_accepted_at ?? run.created) <= INACTIVITY_MS
  return isWithoutRollouts(run, backlog, now) && (!hasWaitingTrainer(run, now) || isNew)
}

function isWithoutRollouts({ counters }: StoredRun, { queuedGroups }: RunBacklog, now: number): boolean {
  return queuedGroups === 0 && now - (counters.last_accepted_at ?? 0) > INACTIVITY_MS
}

function hasWaitingTrainer({ counters }: StoredRun, now: number): boolean {
  return now - (counters.last_batch_request_at ?? 0) <= TRAINER_WAIT_MS
}

/** Explains a full buffer whose rollouts are too few for a batch. */
function explainStuckBuffer(rollouts: number, batchSize: number): string {
  return `, but their ${rollouts} rollouts are fewer than batch_size (${batchSize}): lower batch_size, request with min_sequences, or raise buffer_max_groups`
}
