/** The frontier of one task as a rule: asks for a difficulty, and learns from the groups that come back. */
import {
  chooseRung,
  createFrontier,
  type FrontierRung,
  updateFrontier,
} from '../../../../src/features/runs/curriculum/posterior.ts'

export interface CurriculumRule {
  /** The difficulty to ask the next item at. */
  choose(): number
  /** A group of an item that was asked for at `difficulty`. */
  learn(difficulty: number, score: number, rollouts: number): void
}

/** Without a target, it looks for the most signal. */
export function createFrontierRule(rungs: readonly FrontierRung[], target?: number): CurriculumRule {
  let weights = createFrontier()
  let current: FrontierRung | undefined
  const nearest = (difficulty: number) =>
    rungs.reduce((best, rung) =>
      Math.abs(rung.difficulty - difficulty) < Math.abs(best.difficulty - difficulty) ? rung : best,
    )
  return {
    choose() {
      current = chooseRung(weights, rungs, { target, current })
      return current.difficulty
    },
    learn(difficulty, score, rollouts) {
      weights = updateFrontier(weights, { score, rollouts, formatted: 1, rung: nearest(difficulty) })
    },
  }
}
