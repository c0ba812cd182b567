/**
 * Rules for which task comes next, on a run of many tasks as a simulated model meets them: some in reach, some too easy, some
 * hopeless, some without signal.
 */

import { seededRandom } from '@reasoning-gym-server/task-tools/seeded-random'
import {
  buildEvidence,
  MAX_LEARNABILITY_EVIDENCE,
  type NumberedEvidence,
  weighByLearnability,
} from '../../../../src/features/runs/sequence/learnability.ts'
import type { TaskPlan } from '../../../../src/features/runs/sequence/sequence.ts'
import { type CurriculumRule, createFrontierRule } from '../curriculum/frontier-rule.ts'

type Random = () => number

/** A run of this many tasks; `inFlight` groups are drawn before the first of them comes back. */
const SIZE = { tasks: 105, groups: 3000, rollouts: 16, inFlight: 64 }

interface SamplingScenario {
  hasFrontier: boolean
  /** Guess floors, dealt to the tasks in turn. */
  floors: readonly number[]
}

export const SCENARIOS = {
  frontier: { hasFrontier: true, floors: [0] },
  'no curriculum, floors of 0 to 0.7': { hasFrontier: false, floors: [0, 0.25, 0.5, 0.7] },
} as const satisfies Record<string, SamplingScenario>

interface SamplingRow {
  groupsWithSignal: number
  /** Mean of 4q(1 − q) over the items, q being what is solved and not guessed. */
  learnable: number
  /** Share of the groups that went to tasks whose items are all right or all wrong. */
  bimodal: number
  /** How evenly the tasks in reach are drawn: the exponential of the entropy of their shares, relative to their number. */
  evenness: number
}

/** `bimodal`: the rollouts of an item are all right or all wrong, except for guesses. */
type TaskKind = 'in reach' | 'easy' | 'hopeless' | 'bimodal'
const SHARES: Readonly<Record<TaskKind, number>> = { 'in reach': 0.45, easy: 0.2, hopeless: 0.2, bimodal: 0.15 }
const MOST_RUNGS = 23
const GOLDEN_RATIO = 0.6180339887

interface DrawnGroup extends SimulatedGroup {
  task: number
}

/** Trains on one run, and measures what its groups were worth. */
export function simulateRun({ hasFrontier, floors }: SamplingScenario, ruleName: RuleName): SamplingRow {
  const { tasks: count, groups, rollouts, inFlight } = SIZE
  const random = seededRandom(11)
  const rule = RULES[ruleName](count)
  const tasks = Array.from(
    { length: count },
    (_, k) => new MixedTask(k, { hasFrontier, floor: floors[k % floors.length] ?? 0 }, random),
  )
  const waiting: DrawnGroup[] = []
  const drawn = Array.from({ length: groups }, () => {
    const k = draw(rule.weigh(), random())
    const group: DrawnGroup = { task: k, ...(tasks[k]?.answer(rollouts) ?? { asked: 0, scores: [], learnable: 0 }) }
    waiting.push(group)
    const first = waiting.length >= inFlight ? waiting.shift() : undefined
    if (first) {
      const task = tasks[first.task]
      rule.learn(first.task, first.scores, task?.floor ?? 0)
      task?.curriculum?.learn(first.asked, mean(first.scores), rollouts)
    }
    return group
  })
  return summarize(tasks, drawn)
}

function summarize(tasks: readonly MixedTask[], drawn: readonly DrawnGroup[]): SamplingRow {
  const counts = tasks.map((_, k) => drawn.filter(({ task }) => task === k).length)
  return {
    groupsWithSignal: mean(drawn.map(({ scores }) => Number(scores.some((score) => score !== scores[0])))),
    learnable: mean(drawn.map(({ learnable }) => learnable)),
    bimodal: mean(drawn.map(({ task }) => Number(tasks[task]?.kind === 'bimodal'))),
    evenness: computeEvenness(counts.filter((_, k) => tasks[k]?.kind === 'in reach')),
  }
}

function computeEvenness(counts: readonly number[]): number {
  const total = counts.reduce((sum, count) => sum + count, 0)
  const entropy = counts.reduce(
    (sum, count) => (count === 0 ? sum : sum - (count / total) * Math.log(count / total)),
    0,
  )
  return Math.exp(entropy) / counts.length
}

function draw(weights: readonly number[], uniform: number): number {
  let rest = uniform * weights.reduce((sum, weight) => sum + weight, 0)
  const k = weights.findIndex((weight) => {
    rest -= weight
    return rest < 0
  })
  return k === -1 ? weights.length - 1 : k
}

interface SamplingRule {
  /** Weight of each task, in order. */
  weigh(): number[]
  /** A group of a task has come back. */
  learn(task: number, scores: number[], floor: number): void
}

type RuleName = 'weights' | 'learnability' | 'SEC'
const RULES: Readonly<Record<RuleName, (tasks: number) => SamplingRule>> = {
  weights: (tasks) => ({ weigh: () => Array<number>(tasks).fill(1), learn() {} }),
  learnability: createLearnabilityRule,
  SEC: createSecRule,
}

/** The server's own. */
function createLearnabilityRule(tasks: number): SamplingRule {
  const plans = Array.from({ length: tasks }, (_, k) => ({ task: String(k), weight: 1 }) as TaskPlan) // no other field is read
  const evidence: Record<string, NumberedEvidence[]> = {}
  let completed = 0
  return {
    weigh: () => plans.map(weighByLearnability(plans, evidence)),
    learn(task, scores, floor) {
      const verdicts = scores.map((score) => ({
        status: 'scored' as const,
        reward: score,
        score,
        answer: '',
        fault: null,
        components: { correct: score, format: 1, length_penalty: 0, try_discount: 0 },
        advantage: 0,
      }))
      const told = buildEvidence(verdicts, floor)
      completed++
      if (!told) return
      evidence[task] = [...(evidence[task] ?? []), { ...told, number: completed }].slice(-MAX_LEARNABILITY_EVIDENCE)
    },
  }
}

/** SEC (arXiv 2505.14970): the mean absolute advantage of a task's groups by TD(0), and a Boltzmann choice. */
function createSecRule(tasks: number): SamplingRule {
  const [LEARNING_RATE, TEMPERATURE] = [0.5, 0.15]
  const gains = Array<number>(tasks).fill(0.5)
  return {
    weigh: () => gains.map((gain) => Math.exp(gain / TEMPERATURE)),
    learn(task, scores) {
      const center = mean(scores)
      const gain = mean(scores.map((score) => Math.abs(score - center)))
      gains[task] = (gains[task] ?? 0) + LEARNING_RATE * (gain - (gains[task] ?? 0))
    },
  }
}

interface SimulatedGroup {
  /** Difficulty that was asked for. */
  asked: number
  /** Of each rollout, 0 or 1. */
  scores: number[]
  /** 4q(1 − q) of the item, where q is the share that is solved and not guessed: what there was to learn, at most 1. */
  learnable: number
}

class MixedTask {
  readonly kind: TaskKind
  readonly floor: number
  readonly curriculum: CurriculumRule | undefined
  readonly #random: Random
  readonly #rungs: number
  readonly #slope: number
  readonly #defaultDifficulty: number
  readonly #place: number

  constructor(index: number, { hasFrontier, floor }: { hasFrontier: boolean; floor: number }, random: Random) {
    this.#random = random
    this.kind = chooseKind((index * GOLDEN_RATIO) % 1)
    this.floor = floor
    this.#rungs = 2 + Math.floor(random() * (MOST_RUNGS - 1))
    this.#slope = 4 + 20 * random()
    this.#place = choosePlace(this.kind, random())
    this.#defaultDifficulty = random()
    const rungs = Array.from({ length: this.#rungs }, (_, k) => ({ difficulty: k / (this.#rungs - 1), floor }))
    if (hasFrontier) this.curriculum = createFrontierRule(rungs)
  }

  /** Answers one item at the difficulty that the curriculum asks for. */
  answer(rollouts: number): SimulatedGroup {
    const asked = this.curriculum?.choose() ?? this.#defaultDifficulty
    const last = this.#rungs - 1
    const difficulty = this.curriculum ? Math.min(last, Math.floor(asked * last + 0.5)) / last : asked
    const solved = 1 / (1 + Math.exp(-this.#slope * (this.#place - difficulty) - drawNormal(this.#random)))
    const success = this.kind === 'bimodal' ? this.#settle(solved) : this.floor + (1 - this.floor) * solved
    const scores = Array.from({ length: rollouts }, () => (this.#random() < success ? 1 : 0))
    const learnable = this.kind === 'bimodal' ? 0 : 4 * solved * (1 - solved)
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

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}
