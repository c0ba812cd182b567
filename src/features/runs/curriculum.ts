/** Which groups feed a run's curriculum, and what they tell it. */

import { type Recipe, TRAINING_SEEDS_START } from '../../contract/recipe.ts'
import type { ResolvedRun } from './resolved-run.ts'
import { buildTaskPlans, canBeDrawnAt, positionOfSeed, STARTING_LEVEL, type TaskPlan } from './sequence/sequence.ts'

/** What a group tells the curriculum of its task. The level is moved by the script that completes the group. */
export interface CurriculumInput {
  /** Of its item in the run's sequence: it counts if that was handed out. */
  position: number
  /** Mean score of the counted rollouts, before any penalty. */
  score: number
  /** Difficulty that the item was asked for at. */
  difficulty: number
  /** Level of a task that no group has moved yet. */
  starting_level: number
  /** Accuracy that the curriculum aims at. */
  target_accuracy: number
  /** Bounds of the level. */
  low: number
  high: number
}

/** Where a run may have handed out an item at a difficulty of the task's ladder. */
export interface SequencePlace {
  position: number
  plan: TaskPlan
  difficulty: number
}

/** What a group tells the curriculum; undefined unless its item can be one that this run handed out on the ladder. */
export function getCurriculumInput(
  run: ResolvedRun,
  recipe: Recipe,
  score: number | null,
  all: { name: string; category: string }[],
): CurriculumInput | undefined {
  if (run.settings.complexity_mode !== 'curriculum' || score === null) return undefined
  const place = findSequencePlace(run, recipe, all)
  if (!place) return undefined
  const { position, difficulty, plan } = place
  const { targetAccuracy: target_accuracy, low, high } = plan
  return { position, score, difficulty, starting_level: STARTING_LEVEL, target_accuracy, low, high }
}

/** Undefined if the item cannot be one of the run's sequence whose difficulty follows the model. */
export function findSequencePlace(
  { settings }: ResolvedRun,
  { task, seed, difficulty }: Recipe,
  all: { name: string; category: string }[],
): SequencePlace | undefined {
  if (difficulty === null || seed < TRAINING_SEEDS_START) return undefined
  const position = positionOfSeed(settings.seed, seed)
  const plans = buildTaskPlans(settings, all)
  const plan = plans.find((choice) => choice.task === task)
  if (!plan || plan.low === plan.high) return undefined
  // Where the sampling follows the model, the position alone does not tell the task.
  if (settings.sampling === 'weights' && !canBeDrawnAt(settings.seed, plans, position, task)) return undefined
  return { position, plan, difficulty }
}
