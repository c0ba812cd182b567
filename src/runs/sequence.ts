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

/** Task and seed of a position. Items differ per run and seed; neighbours in the sequence have neighbouring seeds. */
export function spotAt(run: string, seed: number, plans: TaskPlan[], position: number): Spot {
  const start = Math.floor(draw(`${run}/${seed}`) * RANGE)
  const total = plans.reduce((sum, { weight }) => sum + weight, 0)
  const plan = weighted(plans, draw(`${run}/${seed}/${position}`) * total)
  if (!plan) throw new RangeError('a run needs a task')
  return {
    plan,
    seed: TRAINING_SEEDS_START + ((start + position) % RANGE),
    chance: draw(`${run}/${seed}/${position}/difficulty`),
  }
}

/** The plan on whose stretch a point lies, when the weights are laid end to end. */
function weighted(plans: TaskPlan[], point: number): TaskPlan | undefined {
  let end = 0
  for (const plan of plans) {
    end += plan.weight
    if (point < end) return plan
  }
  return plans.findLast(({ weight }) => weight > 0)
}

/** The position that gave an item its seed. */
export function positionOf(run: string, seed: number, itemSeed: number): number {
  const start = Math.floor(draw(`${run}/${seed}`) * RANGE)
  return (itemSeed - TRAINING_SEEDS_START - start + RANGE) % RANGE
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
