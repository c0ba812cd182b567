/** Which groups feed a run's curriculum. The level itself is moved by the script that completes the group. */

import { type Recipe, TRAINING_SEEDS_START } from '../../contract/recipe.ts'
import type { ResolvedRun } from './resolved-run.ts'
import { buildTaskPlans, positionOfSeed, STARTING_LEVEL, sequencePointAt } from './sequence/sequence.ts'

/** What a group tells the curriculum of its task. */
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

/** What a group tells the curriculum; undefined unless its item can be one that this run handed out on the ladder. */
export function getCurriculumInput(
  { settings }: ResolvedRun,
  { task, seed, difficulty }: Recipe,
  score: number | null,
  all: { name: string; category: string }[],
): CurriculumInput | undefined {
  if (settings.complexity_mode !== 'curriculum' || score === null || difficulty === null || seed < TRAINING_SEEDS_START)
    return undefined
  const position = positionOfSeed(settings.seed, seed)
  const plans = buildTaskPlans(settings, all)
  // Where the sampling follows the model, the position alone does not tell the task.
  const fixed = settings.sampling === 'weights' ? sequencePointAt(settings.seed, plans, position).plan : undefined
  const plan = fixed ?? plans.find((choice) => choice.task === task)
  if (plan?.task !== task || plan.low === plan.high) return undefined
  const { targetAccuracy: target_accuracy, low, high } = plan
  return { position, score, difficulty, starting_level: STARTING_LEVEL, target_accuracy, low, high }
}
