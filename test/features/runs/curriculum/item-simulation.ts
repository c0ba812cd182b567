/**
 * A run of many tasks whose items differ: models of ten shapes, sampling by learnability, and a choice of items that is
 * free, predicted, or made by an oracle that knows each item's success.
 */
import {
  buildEvidence,
  MAX_LEARNABILITY_EVIDENCE,
  type NumberedEvidence,
  weighByLearnability,
} from '../../../../src/features/runs/sequence/learnability.ts'
import type { TaskPlan } from '../../../../src/features/runs/sequence/sequence.ts'
import { seededRandom } from '../../../../src/features/tasks/check/hostile-answers.ts'
import { createItemMaker, FollowedFrontier, type SimulatedItem, shiftLogit } from './simulated-items.ts'

export interface ItemMix {
  /** Standard deviation of the logit within a rung, and the share of its variance that sizes explain. */
  deviation: number
  explained: number
  rollouts: number
}

export type ItemChoice = 'any' | 'predicted' | 'oracle'

interface ItemFigures {
  /** Share of the groups whose scores differ. */
  signal: number
  /** Least number of groups of a task. */
  fewest: number
}

const TASKS = 40
const ROUNDS = 60
/** Share of q at a difficulty, by the progress of the run from 0 to 1. */
type Shape = (place: number, difficulty: number, progress: number) => number
const logistic = (logit: number) => 1 / (1 + Math.exp(-logit))
const SHAPES: readonly { floor?: number; cap?: number; solve: Shape }[] = [
  { solve: (place, at) => logistic(25 * (place - at)) },
  { solve: (place, at) => logistic(4 * (place - at)) },
  { solve: (place, at) => 0.05 + 0.6 * Math.abs(at - place) },
  { solve: (place, at, progress) => logistic(12 * (place + 0.2 - 0.4 * progress - at)) },
  { solve: (place, at, progress) => logistic(12 * (place - 0.3 + 0.6 * progress - at)) },
  { solve: (place, at) => logistic(12 * (place - at)), floor: 0.3 },
  { solve: (place, at) => logistic(12 * (place - at)), cap: 0.6 },
  { solve: () => 0 },
  { solve: () => 1 },
  { solve: (_, at, progress) => logistic(12 * ((progress < 0.5 ? 0.2 : 0.85) - at)) },
]

/** Trains on one run: 60 rounds of 40 groups, which come back at the end of their round. */
export function simulateItems(mix: ItemMix, choice: ItemChoice, seed: number): ItemFigures {
  const random = seededRandom(seed)
  const tasks = Array.from({ length: TASKS }, (_, k) => new MixedTask(k, mix, choice, random))
  const plans = tasks.map((_, k) => ({ task: String(k), weight: 1 }) as TaskPlan) // no other field is read
  const evidence: Record<string, NumberedEvidence[]> = {}
  const counts = tasks.map(() => 0)
  let withSignal = 0
  let number = 0
  for (let round = 0; round < ROUNDS; round++) {
    const weights = plans.map(weighByLearnability(plans, evidence))
    const played = Array.from({ length: TASKS }, () => {
      const k = draw(weights, random())
      counts[k] = (counts[k] ?? 0) + 1
      return { k, ...(tasks[k] as MixedTask).play(round / ROUNDS) } // one of them
    })
    for (const { k, scores, learn } of played) {
      withSignal += Number(scores.some((score) => score !== scores[0]))
      learn()
      const told = buildEvidence(scores.map(toVerdict), tasks[k]?.floor ?? 0)
      number++
      if (told) evidence[k] = [...(evidence[k] ?? []), { ...told, number }].slice(-MAX_LEARNABILITY_EVIDENCE)
    }
  }
  return { signal: withSignal / (ROUNDS * TASKS), fewest: Math.min(...counts) }
}

class MixedTask {
  readonly floor: number
  readonly #mix: ItemMix
  readonly #choice: ItemChoice
  readonly #random: () => number
  readonly #shape: (typeof SHAPES)[number]
  readonly #place: number
  readonly #frontier: FollowedFrontier
  readonly #makeItem: (difficulty: number) => SimulatedItem

  constructor(index: number, mix: ItemMix, choice: ItemChoice, random: () => number) {
    this.#mix = mix
    this.#choice = choice
    this.#random = random
    this.#shape = SHAPES[index % SHAPES.length] as (typeof SHAPES)[number]
    this.floor = this.#shape.floor ?? 0
    this.#place = 0.1 + 0.8 * random()
    const rungs = 2 + Math.floor(22 * random())
    this.#frontier = new FollowedFrontier(
      Array.from({ length: rungs }, (_, k) => ({ difficulty: k / (rungs - 1), floor: this.floor })),
      choice === 'predicted',
    )
    this.#makeItem = createItemMaker(random, mix)
  }

  play(progress: number) {
    const { difficulty } = this.#frontier.choose(this.#random())
    const rate = this.#shape.solve(this.#place, difficulty, progress)
    const candidates = Array.from({ length: 4 }, () => this.#makeItem(difficulty))
    const { shift, features } = this.#pick(rate, difficulty, candidates)
    const success = this.floor + (1 - this.floor) * shiftLogit(rate, shift)
    const { rollouts } = this.#mix
    const isFormatted = Array.from({ length: rollouts }, () => this.#random() < (this.#shape.cap ?? 1))
    const scores = isFormatted.map((formatted) => Number(formatted && this.#random() < success))
    const group = { score: mean(scores), rollouts, formatted: mean(isFormatted.map(Number)), features }
    const learn = () => this.#frontier.learn({ ...group, rung: { difficulty, floor: this.floor } })
    return { scores, learn }
  }

  #pick(rate: number, difficulty: number, candidates: SimulatedItem[]): SimulatedItem {
    const uniform = this.#random()
    if (this.#choice !== 'oracle') return this.#frontier.pick(difficulty, candidates, uniform)
    const distance = ({ shift }: SimulatedItem) => Math.abs(shiftLogit(rate, shift) - 0.5)
    return candidates.reduce((best, item) => (distance(item) < distance(best) ? item : best))
  }
}

function toVerdict(score: number) {
  return { status: 'scored' as const, reward: score, score, answer: '', fault: null, penalty: 0, advantage: 0 }
}

function draw(weights: readonly number[], uniform: number): number {
  let rest = uniform * weights.reduce((sum, weight) => sum + weight, 0)
  const k = weights.findIndex((weight) => {
    rest -= weight
    return rest < 0
  })
  return k === -1 ? weights.length - 1 : k
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
