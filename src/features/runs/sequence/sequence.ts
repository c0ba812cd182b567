/** A run's sequence of training items. A position determines the task and the seed on every node. */
import { createHash } from 'node:crypto'
import { type Config, SEEDS_END, TRAINING_SEEDS_START } from '@reasoning-gym-server/contract/recipe'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import type { TaskSummary } from '@reasoning-gym-server/contract/task'

/** Difficulty at which the curriculum of a task starts. */
export const STARTING_LEVEL = 0.3

const TRAINING_SEED_COUNT = SEEDS_END - TRAINING_SEEDS_START
/** Number of seeds of a position. If the first one gives no suitable item, the others are tried. */
export const SEEDS_PER_POSITION = 16
/**
 * Distance between the seeds of one position. Two positions of a run share a seed only if they are 134 million
 * positions apart.
 */
export const SEED_STRIDE = TRAINING_SEED_COUNT / SEEDS_PER_POSITION

/** A task of a run, with its weight, config and difficulty bounds. */
export interface TaskPlan {
  task: string
  weight: number
  /** Config in the run's settings, which is off the ladder. */
  config: Config | undefined
  /** Lower and upper bound of the task's difficulty. */
  low: number
  high: number
  /** Target accuracy in the run's settings, unless the task has its own. */
  targetAccuracy: number
  ownTargetAccuracy: number | undefined
}

/** The place of a position in the space of items. */
export interface SequencePoint {
  plan: TaskPlan
  /** Probability with which this plan was drawn. */
  share: number
  seed: number
  /** A number in [0, 1), specific to this position, for a random difficulty. */
  uniform: number
  /** Another one, for a random rung, if `frontier` explores with this position. */
  exploration: number | undefined
}

/** Returns the seed of the item at a position: its first one, or that of its k-th retry. */
export function seedAt(runSeed: number, position: number, retry = 0): number {
  const offset = sequenceStart(runSeed) + position + retry * SEED_STRIDE
  return TRAINING_SEEDS_START + (offset % TRAINING_SEED_COUNT)
}

function sequenceStart(runSeed: number): number {
  return Math.floor(hashToUnitInterval(String(runSeed)) * TRAINING_SEED_COUNT)
}

/** Returns the position that gave an item its seed, either first or as a retry. */
export function positionOfSeed(runSeed: number, itemSeed: number): number {
  const offset = itemSeed - TRAINING_SEEDS_START - sequenceStart(runSeed) + TRAINING_SEED_COUNT
  return (offset % TRAINING_SEED_COUNT) % SEED_STRIDE
}

/** Returns a number in [0, 1) that is the same on every machine. */
export function hashToUnitInterval(key: string): number {
  return createHash('sha256').update(key).digest().readUIntBE(0, 6) / 2 ** 48
}

/** The part of a task's catalog entry that selects tasks. */
type SelectableTask = Pick<TaskSummary, 'name' | 'category'> &
  Partial<Pick<TaskSummary, 'public_benchmark' | 'shortcut'>>

/** Builds one plan for each task that a run's settings name. Later entries override earlier ones. */
export function buildTaskPlans(
  { tasks, exclude, curriculum_target_accuracy }: Pick<RunSettings, 'tasks' | 'exclude' | 'curriculum_target_accuracy'>,
  all: SelectableTask[],
): TaskPlan[] {
  const included = all.filter((task) => !isExcluded(task, exclude))
  const plans = new Map<string, TaskPlan>()
  for (const choice of tasks === 'all' ? included.map(({ name }) => name) : tasks) {
    const {
      task,
      weight,
      config,
      difficulty = [0, 1],
      target_accuracy,
    } = typeof choice === 'string' ? { task: choice, weight: 1 } : choice
    const [low, high] = typeof difficulty === 'number' ? [difficulty, difficulty] : difficulty
    const category = task.startsWith('category:') ? task.slice('category:'.length) : undefined
    for (const known of category === undefined ? all : included) {
      if (category === undefined ? known.name !== task : known.category !== category) continue
      plans.set(known.name, {
        task: known.name,
        weight,
        config,
        low,
        high,
        targetAccuracy: target_accuracy ?? curriculum_target_accuracy,
        ownTargetAccuracy: target_accuracy,
      })
    }
  }
  return [...plans.values()]
}

/**
 * Returns the difficulty at which to request an item, or null for the library's defaults or the run's own config.
 * Without a level, a curriculum starts at the original environment's level, and a task without a frontier gets null,
 * because it has no ladder.
 */
export function chooseDifficulty(
  { plan, uniform: chance }: SequencePoint,
  settings: Pick<RunSettings, 'complexity_mode' | 'difficulty'>,
  level: number | undefined,
): number | null {
  if (plan.config !== undefined) return null
  if (plan.low === plan.high) return plan.low
  switch (settings.complexity_mode) {
    case 'none':
      return null
    case 'fixed':
      return clampDifficulty(settings.difficulty, plan)
    case 'random':
      return plan.low + chance * (plan.high - plan.low)
    case 'curriculum':
      return clampDifficulty(level ?? STARTING_LEVEL, plan)
    case 'frontier':
      return level === undefined ? null : clampDifficulty(level, plan)
  }
}

function isExcluded(
  { name, category, public_benchmark, shortcut }: SelectableTask,
  exclude: RunSettings['exclude'],
): boolean {
  return exclude.some(
    (choice) =>
      choice === name ||
      choice === `category:${category}` ||
      (choice === 'public_benchmarks' && typeof public_benchmark === 'string') ||
      (choice === 'shortcuts' && typeof shortcut === 'string'),
  )
}

export function clampDifficulty(value: number, { low, high }: Pick<TaskPlan, 'low' | 'high'>): number {
  return Math.min(Math.max(value, low), high)
}
