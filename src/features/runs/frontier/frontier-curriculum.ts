/**
 * The curriculum of `complexity_mode: "frontier"`. The script that completes a group also appends the group's evidence
 * to a list of the run, so that each group counts once. A process that completes a group, requests items or reads the
 * run then folds the list into the frontiers, in order. If it dies before it has stored the result, the next process
 * folds the same list.
 */

import type { Recipe } from '@reasoning-gym-server/contract/recipe'
import type { Logger } from 'pino'
import type { GroupResult } from '../../../grading/group.ts'
import { runLatest } from '../../../platform/run-latest.ts'
import type { TaskCatalog } from '../../tasks/task-catalog.ts'
import { findSequencePlace } from '../curriculum.ts'
import type { RunRepository } from '../repository.ts'
import { type ResolvedRun, resolveRun } from '../resolved-run.ts'
import { buildTaskPlans } from '../sequence/sequence.ts'
import { type FoldedEvidence, foldEvidence, type LevelChange, type StoredFrontier } from './fold.ts'
import type { FrontierRepository } from './frontier-repository.ts'
import type { GroupEvidence } from './group-evidence.ts'
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
  readonly #foldShared: (key: string, run: ResolvedRun) => Promise<LevelChange[]>

  constructor(deps: FrontierCurriculumDeps) {
    this.#deps = deps
    this.#foldShared = runLatest((run: ResolvedRun) => this.#foldAll(run))
  }

  /** Returns a group's evidence, or undefined if the run cannot have issued its item on the ladder. */
  describeGroup(run: ResolvedRun, recipe: Recipe, result: GroupResult): FrontierInput | undefined {
    const { tasks, frontiers } = this.#deps
    const score = result.mean_score ?? null
    if (run.settings.complexity_mode !== 'frontier' || score === null) return undefined
    const place = findSequencePlace(run, recipe, tasks.list())
    if (!place || !frontiers.get(run, place.plan)) return undefined
    const { difficulty, floor } = frontiers.rungAt(recipe.task, place.difficulty, run.settings.scoring)
    const rollouts = result.verdicts.filter((verdict) => verdict.status === 'scored' && !verdict.skipped).length
    return { position: place.position, evidence: { task: recipe.task, score, rollouts, difficulty, floor } }
  }

  /** Folds all evidence that the run has now. Does nothing in other modes. */
  async fold(run: ResolvedRun): Promise<LevelChange[]> {
    if (run.settings.complexity_mode !== 'frontier') return []
    return this.#foldShared(`${run.name}/${run.epoch}`, run)
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
      if (pending.epoch !== run.epoch || pending.evidence.length === 0) return changes
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
