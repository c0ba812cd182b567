/** The frontier of one task as a rule: asks for a difficulty, and learns from the groups that come back. */
import {
  chooseRung,
  createFrontier,
  estimateFrontier,
  type FrontierRung,
  updateFrontier,
} from '../../../../src/features/runs/curriculum/posterior.ts'

export interface CurriculumRule {
  /** The difficulty to ask the next item at. */
  choose(): number
  /** A group of an item that was asked for at `difficulty`. `step` is the trainer's, and `formatted` a share. */
  learn(difficulty: number, score: number, rollouts: number, more?: { step?: number; formatted?: number }): void
  estimate(): ReturnType<typeof estimateFrontier>
}

/** Without a target, it looks for the most signal. */
export function createFrontierRule(rungs: readonly FrontierRung[], target?: number): CurriculumRule {
  let weights = createFrontier()
  let current = chooseRung(weights, rungs, { target })
  let lastStep: number | undefined
  const nearest = (difficulty: number) =>
    rungs.reduce((best, rung) =>
      Math.abs(rung.difficulty - difficulty) < Math.abs(best.difficulty - difficulty) ? rung : best,
    )
  return {
    choose: () => current.difficulty,
    learn(difficulty, score, rollouts, { step = 0, formatted = 1 } = {}) {
      const group = { score, rollouts, formatted, rung: nearest(difficulty) }
      weights = updateFrontier(weights, group, step !== lastStep)
      lastStep = step
      current = chooseRung(weights, rungs, { target, current, group })
    },
    estimate: () => estimateFrontier(weights),
  }
}
