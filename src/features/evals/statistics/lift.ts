/**
 * Computes lift, or floor-corrected accuracy: how far a mean score is on the way from the score of guessing to full
 * marks, (mean − floor) / (1 − floor). The floor is a constant of the items, so errors and intervals are those of the
 * mean, scaled.
 */
import { computeLift, meanOrNull } from '../../../grading/statistics.ts'
import type { Estimate } from './means.ts'

export interface Lift {
  /** Mean of the items' floors, or null without items. */
  guess_floor: number | null
  /** Lift, below 0 if guessing earns more. Null where guessing counts as correct. */
  lift: number | null
  lift_stderr: number | null
  lift_confidence_95: [number, number] | null
}

/** Computes the lift. `floors` has the score of guessing for each score behind the estimate. */
export function estimateLift(estimate: Estimate | null, floors: readonly number[]): Lift {
  const guess_floor = meanOrNull([...floors])
  const lift = computeLift(estimate?.mean ?? null, guess_floor)
  if (lift === null || guess_floor === null || !estimate)
    return { guess_floor, lift: null, lift_stderr: null, lift_confidence_95: null }
  const { stderr, confidence_95 } = estimate
  const correct = (score: number) => (score - guess_floor) / (1 - guess_floor)
  return {
    guess_floor,
    lift,
    lift_stderr: stderr === null ? null : stderr / (1 - guess_floor),
    lift_confidence_95: confidence_95 && [correct(confidence_95[0]), correct(confidence_95[1])],
  }
}
