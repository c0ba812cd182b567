/** Decides which groups feed a run's curriculum and what they contribute to it. */

import { type Recipe, TRAINING_SEEDS_START } from '@reasoning-gym-server/contract/recipe'
import { canBeDrawnAt } from '../sequence/item-draws.ts'
import { buildTaskPlans, positionOfSeed, STARTING_LEVEL } from '../sequence/sequence.ts'
import type { ResolvedRun } from '../types.ts'

/** A group's contribution to the curriculum of its task. The script that completes the group moves the level. */
export interface CurriculumInput {
  /** Position of the group's item in the run's sequence. The group counts only if the run issued that position. */
  position: number
  /** Mean score of the counted rollouts, before any penalty. */
  score: number
  /** Difficulty at which the item was requested. */
  difficulty: number
  /** Level of a task that no group has moved yet. */
  starting_level: number
  target_accuracy: number
  low: number
  high: number
}

/**
 * Returns a group's contribution to the curriculum, or undefined if the run cannot have issued its item on the ladder.
 */
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

/**
 * Returns the place in the sequence where a run may have issued an item at a difficulty of the task's ladder, or
 * undefined if the item cannot belong to the run's sequence at a difficulty that follows the model.
 */
export function findSequencePlace(
  { settings, counters }: ResolvedRun,
  { task, seed, difficulty }: Recipe,
  all: { name: string; category: string }[],
) {
  if (difficulty === null || seed < TRAINING_SEEDS_START) return undefined
  const position = positionOfSeed(settings.seed, seed)
  const plans = buildTaskPlans(settings, all)
  const plan = plans.find((choice) => choice.task === task)
  if (!plan || plan.low === plan.high) return undefined
  // Sampling that follows the model, or an earlier mix, can draw several tasks for a position, so the position alone does
  // not determine the task.
  const hasOneMix = settings.sampling === 'weights' && !counters.mixes
  if (hasOneMix && !canBeDrawnAt(settings.seed, plans, position, task)) return undefined
  return { position, plan, difficulty }
}
