/**
 * Determines the item in each row of a data set of training items: the one that a run with the same tasks, seed and
 * difficulty has at that position of its sequence. A data set and a run therefore agree, and every node returns the
 * same rows.
 */
import type { DatasetQuery } from '@reasoning-gym-server/contract/dataset'
import type { RecipeInput } from '@reasoning-gym-server/contract/recipe'
import { type RunSettings, resolveSettings, type SettingsChange } from '@reasoning-gym-server/contract/run-settings'
import type { TaskFrontiers } from '../../runs/frontier/task-frontiers.ts'
import {
  buildTaskPlans,
  chooseDifficulty,
  SEEDS_PER_POSITION,
  seedAt,
  sequencePointAt,
  type TaskPlan,
} from '../../runs/sequence/sequence.ts'
import type { TaskCatalog } from '../../tasks/task-catalog.ts'

/** Offset of substitute positions, past those of any data set, for a row whose own position has no item. */
const SUBSTITUTE_STRIDE = 2 ** 24
const POSITIONS_PER_ROW = 8

/** One way to make the item of a row. */
export interface RowAttempt {
  /** Place to try: the row's own position, then its substitutes. */
  place: number
  /** Index among the position's seeds. */
  retry: number
}

export interface TrainingPlanDeps {
  tasks: TaskCatalog
  frontiers: TaskFrontiers
}

export class TrainingPlan {
  readonly settings: RunSettings
  readonly #plans: TaskPlan[]
  /** Difficulty at which a curriculum starts, keyed by task. */
  readonly #startingLevels: ReadonlyMap<string, number>

  /** Throws `unknown_task`. `explicitSettings` are those of the run that the query names. */
  constructor(query: DatasetQuery, explicitSettings: SettingsChange, { tasks, frontiers }: TrainingPlanDeps) {
    for (const choice of query.tasks === undefined || query.tasks === 'all' ? [] : query.tasks)
      tasks.assertKnown(choice, { path: 'tasks', message: 'must be names of tasks and category:NAME' })
    const { seed, difficulty } = query
    const settings = resolveSettings({
      ...explicitSettings,
      ...(query.tasks && { tasks: query.tasks }),
      ...(seed !== undefined && { seed }),
      ...(difficulty && { complexity_mode: 'random' }),
    })
    this.settings = settings
    this.#plans = buildTaskPlans(settings, tasks.list())
      .filter(({ weight }) => weight > 0)
      .map((plan) => (difficulty ? { ...plan, config: undefined, low: difficulty[0], high: difficulty[1] } : plan))
    const isFrontier = settings.complexity_mode === 'frontier'
    const levels = this.#plans.map((plan): [string, number | undefined] => [
      plan.task,
      isFrontier ? frontiers.get({ settings, explicitSettings }, plan)?.startingLevel : undefined,
    ])
    this.#startingLevels = new Map(levels.flatMap(([task, level]) => (level === undefined ? [] : [[task, level]])))
  }

  /** Everything that determines the items. */
  get identity(): unknown {
    const { seed, complexity_mode, difficulty, scoring } = this.settings
    return [seed, complexity_mode, difficulty, scoring, this.#plans, [...this.#startingLevels]]
  }

  get isEmpty(): boolean {
    return this.#plans.length === 0
  }

  /** Returns the recipe of a row's attempt. */
  recipeAt(row: number, { place, retry }: RowAttempt): RecipeInput {
    const position = row + place * SUBSTITUTE_STRIDE
    const point = sequencePointAt(this.settings.seed, this.#plans, position)
    const { task, config } = point.plan
    const difficulty = chooseDifficulty(point, this.settings, this.#startingLevels.get(task))
    const seed = seedAt(this.settings.seed, position, retry)
    return { task, seed, index: 0, ...(config && { config }), difficulty }
  }

  /** Returns the next attempt, or undefined if there is none. */
  nextAttempt({ place, retry }: RowAttempt): RowAttempt | undefined {
    if (retry + 1 < SEEDS_PER_POSITION) return { place, retry: retry + 1 }
    return place + 1 < POSITIONS_PER_ROW ? { place: place + 1, retry: 0 } : undefined
  }
}

export const FIRST_ATTEMPT: RowAttempt = { place: 0, retry: 0 }
