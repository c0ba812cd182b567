/** A learner without a model: its success falls with difficulty along a logistic curve, with noise from item to item. */
import type { FrontierRung } from '../../../src/features/runs/curriculum/posterior.ts'
import type { Scenario } from './scenarios.ts'

type Random = () => number

/** Standard normal values that stand for the items of a rung, with their weights. */
const ITEM_NOISE = [-1.5, -1, -0.5, 0, 0.5, 1, 1.5].map((value) => ({ value, weight: Math.exp((-value * value) / 2) }))
const ITEM_NOISE_WEIGHT = ITEM_NOISE.reduce((sum, { weight }) => sum + weight, 0)

export class SimulatedLearner {
  readonly rungs: readonly FrontierRung[]
  readonly floor: number
  readonly #random: Random
  readonly #slope: number
  readonly #rungOffsets: readonly number[]
  readonly #learningRate: number
  readonly #startingPlace: number
  #place: number

  constructor({ rungs, improves, rungNoise }: Scenario, floor: number, random: Random) {
    this.#random = random
    this.floor = floor
    const count = rungs.fewest + Math.floor(random() * (rungs.most - rungs.fewest + 1))
    this.rungs = Array.from({ length: count }, (_, k) => ({ difficulty: k / (count - 1), floor }))
    this.#slope = 4 + 20 * random()
    this.#startingPlace = 0.15 + 0.7 * random()
    this.#place = this.#startingPlace
    this.#learningRate = improves ? 0.0015 + 0.0025 * random() : 0
    this.#rungOffsets = this.rungs.map(() => rungNoise * drawNormal(random))
  }

  get skillGained(): number {
    return this.#place - this.#startingPlace
  }

  /** The rung that a difficulty means, as on the server's ladders. */
  rungIndex(difficulty: number): number {
    return Math.min(this.rungs.length - 1, Math.floor(difficulty * (this.rungs.length - 1) + 0.5))
  }

  /** The share of a rung's items that it solves, beyond guessing. */
  solveRate(rung: number): number {
    const sum = ITEM_NOISE.reduce((total, { value, weight }) => total + weight * this.#solve(rung, value), 0)
    return sum / ITEM_NOISE_WEIGHT
  }

  /** Answers an item of a rung `rollouts` times, and learns from it. Returns how many were right. */
  answer(rung: number, rollouts: number): number {
    const success = this.floor + (1 - this.floor) * this.#solve(rung, drawNormal(this.#random))
    const right = Array.from({ length: rollouts }, () => (this.#random() < success ? 1 : 0)).filter(Boolean).length
    const rate = this.solveRate(rung)
    this.#place += this.#learningRate * 4 * rate * (1 - rate)
    return right
  }

  #solve(rung: number, itemNoise: number): number {
    const distance = this.#place - (this.rungs[rung]?.difficulty ?? 0) + (this.#rungOffsets[rung] ?? 0)
    return 1 / (1 + Math.exp(-this.#slope * distance - itemNoise))
  }
}

function drawNormal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
