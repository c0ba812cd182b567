/**
 * The ladder of a task as its frontier sees it in a run: the rungs within its bounds, their guess floors, the target,
 * and where the frontier starts.
 */

import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import { LRUCache } from 'lru-cache'
import type { Ladders } from '../../tasks/ladders.ts'
import type { TaskCards } from '../../tasks/task-cards.ts'
import { clampDifficulty, type TaskPlan } from '../sequence/sequence.ts'
import type { ResolvedRun, RunEvals } from '../types.ts'
import type { StoredFrontier } from './frontier-store.ts'
import {
  chooseRung,
  createFrontier,
  estimateFrontier,
  type FrontierEvidence,
  type FrontierRung,
  type FrontierWeights,
  observeGroup,
} from './posterior.ts'

/** Number of combinations of task, bounds, target and scoring whose computed ladders are cached. */
const CACHE_SIZE = 1000

type FrontierPlan = Pick<TaskPlan, 'task' | 'config' | 'low' | 'high' | 'ownTargetAccuracy'>
type FrontierRun = Pick<ResolvedRun, 'settings' | 'explicitSettings'>

export interface TaskFrontier {
  /** Rungs that the run may request, from easy to hard. */
  rungs: readonly FrontierRung[]
  /** Share to be solved above the guess floor. If undefined, the rung with the strongest signal is chosen. */
  target: number | undefined
  /** Level before any group has counted. */
  startingLevel: number
  /** Chooses the next level within the bounds of the task, starting from `level`, after `group`. */
  chooseLevel: (
    weights: FrontierWeights,
    level: number | undefined,
    group?: FrontierEvidence,
  ) => { level: number; rung: FrontierRung }
}

export class TaskFrontiers {
  readonly #ladders: Ladders
  readonly #cards: TaskCards
  readonly #frontiers = new LRUCache<string, TaskFrontier>({ max: CACHE_SIZE })

  constructor(ladders: Ladders, cards: TaskCards) {
    this.#ladders = ladders
    this.#cards = cards
  }

  /**
   * Returns undefined if the task has a fixed difficulty: a single rung, a config in the run's settings, or one
   * explicit difficulty.
   */
  get({ settings, explicitSettings }: FrontierRun, plan: FrontierPlan): TaskFrontier | undefined {
    const { task, config, low, high, ownTargetAccuracy } = plan
    if (config !== undefined || low === high || this.#ladders.rungs(task).length < 2) return undefined
    const target = ownTargetAccuracy ?? explicitSettings.curriculum_target_accuracy ?? undefined
    const key = JSON.stringify([task, low, high, target, settings.scoring])
    const known = this.#frontiers.get(key)
    if (known) return known
    const frontier = this.#build(plan, target, settings.scoring)
    this.#frontiers.set(key, frontier)
    return frontier
  }

  /** Returns the rung that a difficulty selects. */
  rungAt(task: string, difficulty: number, scoring: RunSettings['scoring']): FrontierRung {
    const rung = this.#ladders.rungs(task)[this.#ladders.indexAt(task, difficulty)]
    return {
      difficulty: rung?.difficulty ?? difficulty,
      floor: this.#cards.guessFloor(task, difficulty, scoring),
    }
  }

  #build(plan: FrontierPlan, target: number | undefined, scoring: RunSettings['scoring']): TaskFrontier {
    const { task, low, high } = plan
    const rungs = this.#ladders
      .rungs(task)
      .map(({ difficulty }) => ({ difficulty, ...this.#ladders.rangeAt(task, difficulty) }))
      .filter(({ from, to }) => from <= high && low < to)
      .map(({ difficulty }) => this.rungAt(task, difficulty, scoring))
    const chooseLevel: TaskFrontier['chooseLevel'] = (weights, level, group) => {
      const index = level === undefined ? undefined : this.#ladders.indexAt(task, clampDifficulty(level, plan))
      const current = rungs.find(({ difficulty }) => this.#ladders.indexAt(task, difficulty) === index)
      const rung = chooseRung(weights, rungs, { target, current, group })
      return { level: clampDifficulty(rung.difficulty, plan), rung }
    }
    return { rungs, target, chooseLevel, startingLevel: chooseLevel(createFrontier(), undefined).level }
  }
}

/** Plan for a task that the run does not name. */
const UNNAMED = { weight: 0, config: undefined, low: 0, high: 1, ownTargetAccuracy: undefined }

/** Computes the frontier of each measured task that has a ladder. */
export function computeStart(
  run: Pick<ResolvedRun, 'settings' | 'explicitSettings'>,
  { scoring, items }: Awaited<ReturnType<RunEvals['measure']>>,
  plans: readonly TaskPlan[],
  frontiers: TaskFrontiers,
): Map<string, StoredFrontier> {
  const start = new Map<string, StoredFrontier>()
  for (const [task, measured] of Map.groupBy(items, (item) => item.task)) {
    const frontier = frontiers.get(run, plans.find((plan) => plan.task === task) ?? { task, ...UNNAMED })
    if (!frontier) continue
    const weights = measured.reduce((before, { difficulty, score, samples: rollouts, formatted }) => {
      return observeGroup(before, { score, rollouts, formatted, rung: frontiers.rungAt(task, difficulty, scoring) })
    }, createFrontier())
    const { level, rung } = frontier.chooseLevel(weights, undefined)
    start.set(task, {
      weights,
      state: { level, scores: [], frontier: { ...estimateFrontier(weights), floor: rung.floor } },
    })
  }
  return start
}
