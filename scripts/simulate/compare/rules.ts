/** The rules that are compared: each asks for a difficulty and learns from the groups that come back. */
import {
  chooseRung,
  createFrontier,
  type FrontierRung,
  updateFrontier,
} from '../../../src/features/runs/curriculum/posterior.ts'

export interface CurriculumRule {
  /** The difficulty to ask the next item at. */
  choose(): number
  /** A group of an item that was asked for at `difficulty`. False if the rule does not use it. */
  learn(difficulty: number, score: number, rollouts: number): boolean
}

/** What a rule is told of its task. Without a target it looks for the most signal, as far as it can. */
export interface RuleTask {
  rungs: readonly FrontierRung[]
  target: number | undefined
}

const STARTING_LEVEL = 0.3
/** What a rule that needs a target aims at if none is set: there success varies most. */
const DEFAULT_TARGET = 0.5

export const RULES: Readonly<Record<string, (task: RuleTask) => CurriculumRule>> = {
  original: createOriginalRule,
  AdaRFT: createAdaRftRule,
  'average on the logit': createLogitRule,
  frontier: createFrontierRule,
  'frontier, floors unknown': ({ rungs, target }) =>
    createFrontierRule({ rungs: rungs.map(({ difficulty }) => ({ difficulty, floor: 0 })), target }),
}

/** The original environment's rule, as src/features/runs/scripts/parts/curriculum.lua has it. */
function createOriginalRule({ target = DEFAULT_TARGET }: RuleTask): CurriculumRule {
  let level = STARTING_LEVEL
  let scores: number[] = []
  return {
    choose: () => level,
    learn(difficulty, score) {
      if (Math.abs(difficulty - level) > 0.05 + 1e-9) return false
      scores = [...scores, score].slice(-10)
      if (scores.length >= 3) level = clamp(level + getOriginalStep(scores.slice(-5), level, target))
      return true
    },
  }
}

function getOriginalStep(scores: readonly number[], level: number, target: number): number {
  const accuracy = mean(scores)
  const deviation = Math.sqrt(mean(scores.map((score) => (score - accuracy) ** 2)))
  const stability = Math.max(0.5, 1 - deviation)
  if (stability > 0.8 && accuracy > 0.9 && level < 0.5) return 0.1 * stability
  if (stability > 0.8 && accuracy < 0.3 && level > 0.5) return -0.1 * stability
  if (accuracy > target + 0.05) return 0.05 * stability
  return accuracy < target - 0.05 ? -0.05 * stability : 0
}

/** AdaRFT (arXiv 2504.05520): one level, moved by the hyperbolic tangent of the error. */
function createAdaRftRule({ target = DEFAULT_TARGET }: RuleTask): CurriculumRule {
  const [STEP, SENSITIVITY] = [0.05, 2]
  let level = STARTING_LEVEL
  return {
    choose: () => level,
    learn(_difficulty, score) {
      level = clamp(level + STEP * Math.tanh(SENSITIVITY * (score - target)))
      return true
    },
  }
}

/** An exponential average of the accuracy; the level follows its distance to the target on the logit scale. */
function createLogitRule({ target = DEFAULT_TARGET }: RuleTask): CurriculumRule {
  const [MEMORY, GAIN] = [0.6, 0.06]
  let level = STARTING_LEVEL
  let average: number | undefined
  return {
    choose: () => level,
    learn(_difficulty, score) {
      const bounded = Math.min(Math.max(score, 0.03), 0.97)
      average = average === undefined ? bounded : MEMORY * average + (1 - MEMORY) * bounded
      level = clamp(level + GAIN * (logit(average) - logit(target)))
      return true
    },
  }
}

export function createFrontierRule({ rungs, target }: RuleTask): CurriculumRule {
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
      weights = updateFrontier(weights, { score, rollouts, rung: nearest(difficulty) })
      return true
    },
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function logit(share: number): number {
  return Math.log(share / (1 - share))
}

function clamp(level: number): number {
  return Math.min(1, Math.max(0, level))
}
