/** A run of many tasks as a simulated model meets them: some in reach, some too easy, some hopeless, some without signal. */
import { type CurriculumRule, RULES } from '../compare/rules.ts'

type Random = () => number

/** `bimodal`: the rollouts of an item are all right or all wrong, except for guesses. */
export type TaskKind = 'in reach' | 'easy' | 'hopeless' | 'bimodal'
export const SHARES: Readonly<Record<TaskKind, number>> = { 'in reach': 0.45, easy: 0.2, hopeless: 0.2, bimodal: 0.15 }

export type CurriculumName = 'none' | 'original' | 'frontier'
const TARGETS: Record<CurriculumName, number | undefined> = { none: undefined, original: 0.7, frontier: undefined }
const MOST_RUNGS = 23
const GOLDEN_RATIO = 0.6180339887

export interface SimulatedGroup {
  /** Difficulty that was asked for. */
  asked: number
  /** Of each rollout, 0 or 1. */
  scores: number[]
  /** 4q(1 − q) of the item, where q is the share that is solved and not guessed: what there was to learn, at most 1. */
  learnable: number
}

export class MixedTask {
  readonly kind: TaskKind
  readonly floor: number
  readonly curriculum: CurriculumRule | undefined
  readonly #random: Random
  readonly #rungs: number
  readonly #slope: number
  readonly #defaultDifficulty: number
  readonly #learningRate: number
  readonly #startingPlace: number
  #place: number

  constructor(
    index: number,
    { curriculum, floor, improves }: { curriculum: CurriculumName; floor: number; improves: boolean },
    random: Random,
  ) {
    this.#random = random
    this.kind = chooseKind((index * GOLDEN_RATIO) % 1)
    this.floor = floor
    this.#rungs = 2 + Math.floor(random() * (MOST_RUNGS - 1))
    this.#slope = 4 + 20 * random()
    this.#place = choosePlace(this.kind, random())
    this.#startingPlace = this.#place
    this.#defaultDifficulty = random()
    this.#learningRate = improves ? 0.0015 + 0.0025 * random() : 0
    const rungs = Array.from({ length: this.#rungs }, (_, k) => ({ difficulty: k / (this.#rungs - 1), floor }))
    this.curriculum = RULES[curriculum]?.({ rungs, target: TARGETS[curriculum] })
  }

  get skillGained(): number {
    return this.#place - this.#startingPlace
  }

  /** Answers one item at the difficulty that the curriculum asks for, and learns from it. */
  answer(rollouts: number): SimulatedGroup {
    const asked = this.curriculum?.choose() ?? this.#defaultDifficulty
    const last = this.#rungs - 1
    const difficulty = this.curriculum ? Math.min(last, Math.floor(asked * last + 0.5)) / last : asked
    const solved = 1 / (1 + Math.exp(-this.#slope * (this.#place - difficulty) - drawNormal(this.#random)))
    const success = this.kind === 'bimodal' ? this.#settle(solved) : this.floor + (1 - this.floor) * solved
    const scores = Array.from({ length: rollouts }, () => (this.#random() < success ? 1 : 0))
    const learnable = this.kind === 'bimodal' ? 0 : 4 * solved * (1 - solved)
    this.#place += this.#learningRate * learnable
    return { asked, scores, learnable }
  }

  /** All right or all wrong. */
  #settle(solved: number): number {
    return this.#random() < this.floor + (1 - this.floor) * solved ? 1 : 0
  }
}

function chooseKind(place: number): TaskKind {
  let end = 0
  for (const [kind, share] of Object.entries(SHARES) as [TaskKind, number][]) {
    end += share
    if (place < end) return kind
  }
  return 'bimodal'
}

/** Where on the ladder the model solves half: beyond an end of it, nothing on the ladder is in between. */
function choosePlace(kind: TaskKind, uniform: number): number {
  if (kind === 'easy') return 1.1 + 0.3 * uniform
  if (kind === 'hopeless') return -0.4 + 0.3 * uniform
  return 0.15 + 0.7 * uniform
}

function drawNormal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
