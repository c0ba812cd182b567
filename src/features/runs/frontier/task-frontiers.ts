/** The ladder of a task as its frontier sees it in a run: the rungs within its bounds, their guess floors, and the target. */

import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import { LRUCache } from 'lru-cache'
import type { Ladders } from '../../tasks/ladders.ts'
import type { TaskCards } from '../../tasks/task-cards.ts'
import type { ResolvedRun } from '../resolved-run.ts'
import { clampDifficulty, type TaskPlan } from '../sequence/sequence.ts'
import { chooseRung, createFrontier, type FrontierRung, type FrontierWeights } from './frontier.ts'

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
  /** Chooses the next level within the bounds of the task, starting from `level`. */
  chooseLevel: (weights: FrontierWeights, level: number | undefined) => { level: number; rung: FrontierRung }
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
    const chooseLevel: TaskFrontier['chooseLevel'] = (weights, level) => {
      const index = level === undefined ? undefined : this.#ladders.indexAt(task, clampDifficulty(level, plan))
      const current = rungs.find(({ difficulty }) => this.#ladders.indexAt(task, difficulty) === index)
      const rung = chooseRung(weights, rungs, { target, current })
      return { level: clampDifficulty(rung.difficulty, plan), rung }
    }
    return { rungs, target, chooseLevel, startingLevel: chooseLevel(createFrontier(), undefined).level }
  }
}
