/**
 * The curriculum of `complexity_mode: "frontier"`. The script that completes a group also appends the group's evidence
 * to a list of the run, so that each group counts once. A process that completes a group, requests items or reads the
 * run then folds the list into the frontiers, in order. If it dies before it has stored the result, the next process
 * folds the same list.
 */

import type { Recipe } from '@reasoning-gym-server/contract/recipe'
import type { CurriculumPoint } from '@reasoning-gym-server/contract/run'
import type { Logger } from 'pino'
import type { GroupResult } from '../../../grading/group-advantages.ts'
import { mean } from '../../../grading/statistics.ts'
import { shareNextRun } from '../../../platform/shared-results.ts'
import type { TaskCatalog } from '../../tasks/task-catalog.ts'
import type { CurriculumState } from '../records.ts'
import type { RunRepository } from '../repository.ts'
import { buildTaskPlans } from '../sequence/sequence.ts'
import { type ResolvedRun, resolveRun } from '../types.ts'
import { findSequencePlace } from './curriculum-input.ts'
import type {
  FoldedEvidence,
  FrontierRepository,
  GroupEvidence,
  LevelChange,
  StoredFrontier,
} from './frontier-store.ts'
import { createFrontier, estimateFrontier, type FrontierWeights, updateFrontier } from './posterior.ts'
import type { TaskFrontier, TaskFrontiers } from './task-frontiers.ts'

/**
 * Limit of attempts to store a result while other processes fold the same list. Each lost attempt means that another
 * process has made progress.
 */
const MAX_ATTEMPTS = 100

interface FrontierCurriculumDeps {
  repository: FrontierRepository
  runs: RunRepository
  frontiers: TaskFrontiers
  tasks: TaskCatalog
  log: Logger
}

/** Evidence to append to the list if the run has issued the item at the position. */
export interface FrontierInput {
  position: number
  evidence: Omit<GroupEvidence, 'step' | 'time'>
}

export class FrontierCurriculum {
  readonly #deps: FrontierCurriculumDeps
  readonly #foldShared: (run: ResolvedRun) => Promise<LevelChange[]>

  constructor(deps: FrontierCurriculumDeps) {
    this.#deps = deps
    this.#foldShared = shareNextRun((run: ResolvedRun) => this.#foldAll(run), {
      keyOf: ({ name, epoch }) => `${name}/${epoch}`,
      oneAtATime: true,
    })
  }

  /** Returns a group's evidence, or undefined if the run cannot have issued its item on the ladder. */
  describeGroup(run: ResolvedRun, recipe: Recipe, result: GroupResult): FrontierInput | undefined {
    const { tasks, frontiers } = this.#deps
    const score = result.mean_score ?? null
    if (run.settings.complexity_mode !== 'frontier' || score === null) return undefined
    const place = findSequencePlace(run, recipe, tasks.list())
    if (!place || !frontiers.get(run, place.plan)) return undefined
    const { difficulty, floor } = frontiers.rungAt(recipe.task, place.difficulty, run.settings.scoring)
    const counted = result.verdicts.flatMap((verdict) =>
      verdict.status === 'scored' && !verdict.skipped ? [verdict] : [],
    )
    const rollouts = counted.length
    const formatted = counted.filter(({ answer }) => answer !== null).length / Math.max(1, rollouts)
    return { position: place.position, evidence: { task: recipe.task, score, rollouts, formatted, difficulty, floor } }
  }

  /** Folds all evidence that the run has now. Does nothing in other modes. */
  async fold(run: ResolvedRun): Promise<LevelChange[]> {
    if (run.settings.complexity_mode !== 'frontier') return []
    return this.#foldShared(run)
  }

  /** Folds evidence into frontiers that were read together with it. Does nothing in other modes. */
  foldInto(
    run: ResolvedRun,
    evidence: readonly GroupEvidence[],
    stored: ReadonlyMap<string, StoredFrontier>,
  ): FoldedEvidence {
    return foldEvidence(evidence, stored, this.#getFrontiers(run))
  }

  async #foldAll(initialRun: ResolvedRun): Promise<LevelChange[]> {
    const changes: LevelChange[] = []
    for (let run = initialRun, k = 0; k < MAX_ATTEMPTS; k++) {
      const pending = await this.#deps.repository.readPending(run)
      if (pending.epoch !== run.epoch || pending.count === 0) return changes
      if (pending.revision !== run.revision) {
        const stored = await this.#deps.runs.get(run.name)
        if (stored?.epoch !== run.epoch) return changes
        run = resolveRun(stored)
        if (run.settings.complexity_mode !== 'frontier') return changes
        continue
      }
      const tasks = [...new Set(pending.evidence.map(({ task }) => task))]
      const folded = this.foldInto(run, pending.evidence, await this.#deps.repository.readFrontiers(run, tasks))
      const left = await this.#deps.repository.storeFolded(run, pending, folded)
      if (left === undefined) continue
      for (const { task, before, after } of folded.levelChanges)
        this.#deps.log.info({ run: run.name, task, from: before, to: after }, 'task difficulty changed')
      changes.push(...folded.levelChanges)
      if (left === 0) return changes
    }
    return changes
  }

  #getFrontiers(run: ResolvedRun): (task: string) => TaskFrontier | undefined {
    if (run.settings.complexity_mode !== 'frontier') return () => undefined
    const plans = new Map(buildTaskPlans(run.settings, this.#deps.tasks.list()).map((plan) => [plan.task, plan]))
    return (task) => {
      const plan = plans.get(task)
      return plan && this.#deps.frontiers.get(run, plan)
    }
  }
}

/** Number of recent scores whose mean is reported as the accuracy. */
const RECENT_SCORES = 5

/**
 * Folds evidence into frontiers. Evidence of a task without a frontier is dropped: the settings have changed, and the
 * run no longer uses the task.
 */
function foldEvidence(
  evidence: readonly GroupEvidence[],
  stored: ReadonlyMap<string, StoredFrontier>,
  getFrontier: (task: string) => TaskFrontier | undefined,
): FoldedEvidence {
  const tasks: FoldedEvidence['tasks'] = new Map()
  const points = evidence.flatMap((piece) => {
    const frontier = getFrontier(piece.task)
    if (!frontier) return []
    const folded = foldGroup(piece, tasks.get(piece.task) ?? stored.get(piece.task), frontier)
    tasks.set(piece.task, folded)
    return [buildPoint(piece, folded.state)]
  })
  const levelChanges = [...tasks].map(([task, { state }]) => {
    const before = stored.get(task)?.state.level ?? getFrontier(task)?.startingLevel
    return { task, before, after: state.level }
  })
  return { tasks, points, levelChanges: levelChanges.filter(({ before, after }) => before !== after) }
}

function foldGroup(
  { step, score, rollouts, formatted, difficulty, floor }: GroupEvidence,
  before: StoredFrontier | undefined,
  { startingLevel, chooseLevel }: TaskFrontier,
): StoredFrontier & { weights: FrontierWeights } {
  const evidence = { score, rollouts, formatted, rung: { difficulty, floor } }
  const isNewStep = step !== before?.state.step
  const weights = updateFrontier(before?.weights ?? createFrontier(), evidence, isNewStep)
  const chosen = chooseLevel(weights, before?.state.level ?? startingLevel, evidence)
  const scores = [...(before?.state.scores ?? []), score].slice(-RECENT_SCORES)
  const frontier = { ...estimateFrontier(weights), floor: chosen.rung.floor }
  return { weights, state: { level: chosen.level, accuracy: mean(scores), scores, step, frontier } }
}

function buildPoint(
  { time, step, task, score, difficulty, floor, rollouts, formatted }: GroupEvidence,
  { level, accuracy = score, frontier }: CurriculumState,
): CurriculumPoint {
  const item = { difficulty, floor, rollouts, formatted }
  return { time, step, task, score, difficulty: level, accuracy, item, ...frontier }
}
