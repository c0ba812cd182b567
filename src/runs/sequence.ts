/** A run's sequence of training items: position p fixes task and seed, for whoever asks. */
import { createHash } from 'node:crypto'
import { type Config, SEEDS_END, TRAINING_SEEDS_START } from '../words/recipe.ts'
import type { RunSettings } from '../words/run.ts'

/** Where the curriculum of a task begins; parts/curriculum.lua begins there too. */
const START_LEVEL = 0.3

const RANGE = SEEDS_END - TRAINING_SEEDS_START

/** A task of a run, with what is special about it. */
export interface TaskPlan {
  task: string
  weight: number
  /** The run's own config, off the ladder. */
  config: Config | undefined
  /** Bounds of its difficulty. */
  low: number
  high: number
  /** What the run's settings say of the accuracy, unless the task has its own. */
  target: number
}

/** Where in the space of items a position lies. */
export interface Spot {
  plan: TaskPlan
  seed: number
  /** A number in [0, 1) of this position's own, for a random difficulty. */
  chance: number
}

/** What a sequence is drawn from: the name under which the run began, and its seed. */
export interface Origin {
  origin: string
  seed: number
}

/**
 * Task and seed of a position. Items differ per run and seed; neighbours in the sequence have neighbouring seeds.
 * `weightOf` is the weight that a plan has now: its own, or one that follows the model.
 */
export function spotAt(
  { origin, seed }: Origin,
  plans: TaskPlan[],
  position: number,
  weightOf: (plan: TaskPlan) => number = ({ weight }) => weight,
): Spot {
  const weights = plans.map(weightOf)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const plan = weighted(plans, weights, draw(`${origin}/${seed}/${position}`) * total)
  if (!plan) throw new RangeError('a run needs a task')
  return { plan, seed: seedAt({ origin, seed }, position), chance: draw(`${origin}/${seed}/${position}/difficulty`) }
}

/** The seed of the item at a position. */
export function seedAt({ origin, seed }: Origin, position: number): number {
  return TRAINING_SEEDS_START + ((startOf({ origin, seed }) + position) % RANGE)
}

function startOf({ origin, seed }: Origin): number {
  return Math.floor(draw(`${origin}/${seed}`) * RANGE)
}

/** The least that learnability leaves of a task's weight. */
const LEARNABILITY_MIN = 0.05
/** Of a task that has not been seen yet: as of one that is right half the time. */
const LEARNABILITY_UNKNOWN = 0.25

/** Weights by what there is to learn: weight × accuracy × (1 − accuracy), at least 5 % of the weight. */
export function learnability(accuracies: Record<string, number>): (plan: TaskPlan) => number {
  return ({ task, weight }) => {
    const accuracy = accuracies[task]
    return (
      weight * Math.max(LEARNABILITY_MIN, accuracy === undefined ? LEARNABILITY_UNKNOWN : accuracy * (1 - accuracy))
    )
  }
}

/** The plan on whose stretch a point lies, when the weights are laid end to end. */
function weighted(plans: TaskPlan[], weights: number[], point: number): TaskPlan | undefined {
  let end = 0
  for (const [k, weight] of weights.entries()) {
    end += weight
    if (point < end) return plans[k]
  }
  return plans.findLast((_, k) => (weights[k] ?? 0) > 0)
}

/** The position that gave an item its seed. */
export function positionOf(origin: Origin, itemSeed: number): number {
  return (itemSeed - TRAINING_SEEDS_START - startOf(origin) + RANGE) % RANGE
}

/** A number in [0, 1) that is the same everywhere. */
function draw(key: string): number {
  return createHash('sha256').update(key).digest().readUIntBE(0, 6) / 2 ** 48
}

/** The tasks that a run's settings name, once each; what is named later counts. */
export function plansOf(
  { tasks, curriculum_target_accuracy }: Pick<RunSettings, 'tasks' | 'curriculum_target_accuracy'>,
  all: { name: string; category: string }[],
): TaskPlan[] {
  const plans = new Map<string, TaskPlan>()
  for (const choice of tasks === 'all' ? all.map(({ name }) => name) : tasks) {
    const {
      task,
      weight,
      config,
      difficulty = [0, 1],
      target_accuracy,
    } = typeof choice === 'string' ? { task: choice, weight: 1 } : choice
    const [low, high] = typeof difficulty === 'number' ? [difficulty, difficulty] : difficulty
    const category = task.startsWith('category:') ? task.slice('category:'.length) : undefined
    for (const known of all) {
      if (category === undefined ? known.name !== task : known.category !== category) continue
      plans.set(known.name, {
        task: known.name,
        weight,
        config,
        low,
        high,
        target: target_accuracy ?? curriculum_target_accuracy,
      })
    }
  }
  return [...plans.values()]
}

/** The difficulty to ask an item at; null for the library's defaults or the run's own config. */
export function difficultyAt(
  { plan, chance }: Spot,
  settings: Pick<RunSettings, 'complexity_mode' | 'difficulty'>,
  level: number | undefined,
): number | null {
  if (plan.config !== undefined) return null
  if (plan.low === plan.high) return plan.low
  switch (settings.complexity_mode) {
    case 'none':
      return null
    case 'fixed':
      return clamp(settings.difficulty, plan)
    case 'random':
      return plan.low + chance * (plan.high - plan.low)
    case 'curriculum':
      return clamp(level ?? START_LEVEL, plan)
  }
}

function clamp(value: number, { low, high }: TaskPlan): number {
  return Math.min(Math.max(value, low), high)
}
