/** Items of one rung that differ in what a run can see and in what it cannot, and a frontier that chooses among them. */
import {
  canPredict,
  createPredictor,
  learnItem,
  predictSolveRate,
} from '../../../../src/features/runs/curriculum/item-prediction.ts'
import {
  chooseExploredRung,
  chooseRung,
  createFrontier,
  estimateFrontier,
  type FrontierRung,
  updateFrontier,
} from '../../../../src/features/runs/curriculum/posterior.ts'
import {
  chooseAnySeed,
  choosePredictedSeed,
  type SeedChoice,
} from '../../../../src/features/runs/sequence/seed-choice.ts'

export interface SimulatedItem {
  /** As measureItem returns them. */
  features: number[]
  /** By how much the logit of success differs from that of the rung. */
  shift: number
}

/**
 * Returns a maker of items of one task. `deviation`: of the logit within a rung; `explained`: the part of its variance that
 * comes from sizes, each of which also grows along the ladder.
 */
export function createItemMaker(
  random: () => number,
  { deviation, explained }: { deviation: number; explained: number },
): (difficulty: number) => SimulatedItem {
  const sizes = Array.from({ length: 5 }, (_, k) => {
    const varies = k === 0 || random() < 0.6
    return { start: 3 * random(), growth: 1.5 * random(), deviation: varies ? 0.03 + 0.4 * random() ** 2 : 0 }
  })
  const effects = sizes.map((size) => (size.deviation > 0 ? drawNormal(random) : 0))
  const norm = Math.hypot(...effects)
  return (difficulty) => {
    const draws = sizes.map(() => drawNormal(random))
    const bySize = draws.reduce((sum, draw, k) => sum + (draw * (effects[k] ?? 0)) / norm, 0)
    return {
      features: sizes.map((size, k) => size.start + size.growth * difficulty + size.deviation * (draws[k] ?? 0)),
      shift: deviation * (Math.sqrt(explained) * bySize + Math.sqrt(1 - explained) * drawNormal(random)),
    }
  }
}

interface PlayedGroup {
  score: number
  rollouts: number
  formatted: number
  rung: FrontierRung
  features: number[]
}

/** The frontier of one task as a run follows it, with or without a prediction of items. */
export class FollowedFrontier {
  readonly #rungs: readonly FrontierRung[]
  readonly #predictsItems: boolean
  #weights = createFrontier()
  #predictor = createPredictor()
  #current: FrontierRung | undefined

  constructor(rungs: readonly FrontierRung[], predictsItems: boolean) {
    this.#rungs = rungs
    this.#predictsItems = predictsItems
  }

  choose(uniform: number): { level: number; difficulty: number } {
    this.#current = chooseRung(this.#weights, this.#rungs, { current: this.#current })
    const item = chooseExploredRung(this.#rungs, uniform) ?? this.#current
    return { level: this.#current.difficulty, difficulty: item.difficulty }
  }

  pick(difficulty: number, candidates: SimulatedItem[], uniform: number): SimulatedItem {
    const { retry } = this.#chooseSeed(difficulty, candidates, uniform)
    return candidates[retry] as SimulatedItem // one of them
  }

  learn({ rung, features, ...group }: PlayedGroup): void {
    const before = this.#weights
    const learnt = this.#predictsItems && learnItem(this.#predictor, before, { ...rung, ...group, features })
    this.#weights = updateFrontier(before, { ...group, rung: learnt ? learnt.rung : rung })
    if (learnt) this.#predictor = learnt.predictor
  }

  #chooseSeed(difficulty: number, candidates: SimulatedItem[], uniform: number): SeedChoice {
    if (!canPredict(this.#predictor)) return chooseAnySeed(uniform, difficulty)
    const distances = candidates.map(({ features }) => {
      return Math.abs(predictSolveRate(this.#predictor, this.#weights, { difficulty, features }) - 0.5)
    })
    return choosePredictedSeed(uniform, difficulty, distances)
  }

  estimate() {
    return estimateFrontier(this.#weights)
  }
}

export function shiftLogit(rate: number, shift: number): number {
  if (rate <= 0 || rate >= 1) return rate
  return 1 / (1 + ((1 - rate) / rate) * Math.exp(-shift))
}

function drawNormal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
