/**
 * Models that stand still, learn, jump, collapse or lose their format, and how a curriculum follows each of four tasks.
 * Items of a rung differ, and some positions explore, as on the server.
 */

import { seededRandom } from '@reasoning-gym-server/task-tools/seeded-random'
import type { FrontierRung } from '../../../../src/features/runs/curriculum/posterior.ts'
import { EXPLORATION_BLOCK } from '../../../../src/features/runs/sequence/item-draws.ts'
import type { CurriculumRule } from './frontier-rule.ts'

/** A model at a time of its training, on a task whose success falls with this slope. */
type Model = (
  progress: number,
  slope: number,
) => {
  /** Share of the items of a difficulty that the model solves beyond guessing. */
  solve(difficulty: number): number
  /** Difficulty where `solve` is one half; undefined if there is no such place. */
  place?: number
  /** Share of answers without a tag, instead of the condition's. */
  untagged?: number
}

export interface Condition {
  groups: number
  /** Groups of the task in a step. All are asked before any of them is scored. */
  burst(random: () => number): number
  /** Steps until the groups of a step are scored. */
  lag: number
  rollouts: number
  floor: number
  /** Share of answers without a tag, and share of the others that are wrong whatever the item. */
  untagged: number
  faulty: number
  /** Whether half of the wrong answers get partial credit. */
  isPartial: boolean
}

const BASE: Condition = {
  groups: 60,
  burst: () => 1,
  lag: 0,
  rollouts: 8,
  floor: 0,
  untagged: 0,
  faulty: 0,
  isPartial: false,
}

export const CONDITIONS: Record<string, Partial<Condition>> = {
  'groups of 8, one a step': {},
  'groups of 4': { rollouts: 4 },
  'groups of 16': { rollouts: 16 },
  'guess floor 0.24': { floor: 0.24 },
  'guess floor 0.5': { floor: 0.5 },
  '30% without a tag': { untagged: 0.3 },
  '30% wrong inside the tags': { faulty: 0.3 },
  'partial credit': { isPartial: true },
  '300 groups': { groups: 300 },
  '105 tasks, 16 a step': {
    burst: (random) => Array.from({ length: 16 }, random).filter((draw) => draw < 1 / 105).length,
  },
  '16 a step': { groups: 960, burst: () => 16 },
  '16 a step, 8 steps late': { groups: 960, burst: () => 16, lag: 8 },
  '2 a step, 8 steps late': { groups: 120, burst: () => 2, lag: 8 },
  '16 a step, guess floor 0.24': { groups: 640, burst: () => 16, floor: 0.24 },
  '16 a step, guess floor 0.5': { groups: 640, burst: () => 16, floor: 0.5 },
}

/** Numbers of rungs and slopes like those of the server's tasks. */
const TASKS = [
  { rungs: 8, slope: 6 },
  { rungs: 12, slope: 10 },
  { rungs: 16, slope: 15 },
  { rungs: 21, slope: 25 },
]
const ITEM_DEVIATION = 0.8
const MAX_REGRET_OF_FOLLOWER = 0.3
/** Groups after the start or a change that do not count for coverage. */
const SETTLING_GROUPS = 20

const at =
  (place: number | ((progress: number) => number)): Model =>
  (progress, slope) => {
    const here = typeof place === 'number' ? place : place(progress)
    return { place: here, solve: (difficulty) => 1 / (1 + Math.exp(-slope * (here - difficulty))) }
  }
const jump = (from: number, to: number) => at((progress) => (progress < 0.5 ? from : to))
/** Solves this share of the items of the lowest rung. */
const weak =
  (share: number): Model =>
  (_, slope) => ({ solve: (difficulty) => share / (share + (1 - share) * Math.exp(slope * difficulty)) })

export const SCENARIOS = {
  still: at(0.45),
  wander: at((progress) => 0.5 + 0.35 * Math.sin(4 * Math.PI * progress)),
  'climb from the bottom': at((progress) => 0.05 + 0.85 * progress),
  'climb from the middle': at((progress) => 0.4 + 0.3 * progress),
  top: at(0.95),
  bottom: at(0.03),
  'jump up': jump(0.2, 0.85),
  'jump down': jump(0.85, 0.2),
  '0.35 to 0.6': jump(0.35, 0.6),
  'collapse and back': (progress, slope) =>
    progress > 0.3 && progress < 0.5 ? { solve: () => 0 } : at(0.65)(progress, slope),
  'format learned at once': (progress, slope) => ({
    ...at(0.7)(progress, slope),
    ...(progress < 0.5 && { untagged: 0.92 }),
  }),
  'weak, 0%': weak(0),
  'weak, 5%': weak(0.05),
  'weak, 10%': weak(0.1),
  'harder is easier': () => ({ solve: (difficulty) => 0.02 + 0.5 * difficulty }),
  hump: () => ({ solve: (difficulty) => 0.03 + 0.5 * Math.exp(-0.5 * ((difficulty - 0.75) / 0.12) ** 2) }),
} as const satisfies Record<string, Model>

export type ScenarioName = keyof typeof SCENARIOS

export interface ChangeFigures {
  /** 1 − q(1 − q) at the rung of an item, relative to that of the best rung: mean over all items, from the first. */
  regret: number
  /** Mean difficulty of the items. */
  difficulty: number
  /** Share of groups with right and wrong answers. */
  signal: number
  /** Share of the groups after which the interval covers the place. */
  coverage: number
  /** Groups after the middle until two in a row have a regret below 0.3: median and 90th percentile. */
  followed: number
  followedLate: number
  /** Share of the groups after which the level goes up below one half beyond guessing, or down above it. */
  wrongMoves: number
}

/** Measures a rule on each of the four tasks, `seeds` times. */
export function simulateChange(
  scenario: ScenarioName,
  createRule: (rungs: readonly FrontierRung[]) => CurriculumRule,
  seeds: number,
  change: Partial<Condition> = {},
): ChangeFigures {
  const condition = { ...BASE, ...change }
  const plays = TASKS.flatMap((task, t) =>
    Array.from({ length: seeds }, (_, seed) => {
      return play(SCENARIOS[scenario], createRule, condition, { ...task, seed: 7919 * seed + t })
    }),
  )
  const groups = plays.flat()
  const followed = plays.map(findFollowed).toSorted((a, b) => a - b)
  return {
    regret: mean(groups.map(({ regret }) => regret)),
    difficulty: mean(groups.map(({ difficulty }) => difficulty)),
    signal: mean(groups.map(({ hasSignal }) => Number(hasSignal))),
    coverage: mean(groups.flatMap(({ isCovered }) => (isCovered === undefined ? [] : [Number(isCovered)]))),
    followed: followed[Math.floor(followed.length / 2)] ?? 0,
    followedLate: followed[Math.floor(followed.length * 0.9)] ?? 0,
    wrongMoves: mean(groups.map(({ movedWrongly }) => Number(movedWrongly))),
  }
}

interface PlayedGroup {
  step: number
  difficulty: number
  floor: number
  score: number
  formatted: number
  regret: number
  hasSignal: boolean
  isCovered: boolean | undefined
  movedWrongly: boolean
}

function play(
  model: Model,
  createRule: (rungs: readonly FrontierRung[]) => CurriculumRule,
  condition: Condition,
  { rungs: count, slope, seed }: { rungs: number; slope: number; seed: number },
): PlayedGroup[] {
  const random = seededRandom(seed)
  const rungs = Array.from({ length: count }, (_, k) => ({ difficulty: k / (count - 1), floor: condition.floor }))
  const rule = createRule(rungs)
  const played: PlayedGroup[] = []
  const steps: PlayedGroup[][] = []
  for (let step = 0; played.length < condition.groups; step++) {
    const left = condition.groups - played.length
    const asked = Array.from({ length: Math.min(left, condition.burst(random)) }, (_, k) => {
      const number = played.length + k
      const now = model(number / condition.groups, slope)
      const explored = random() < 1 / EXPLORATION_BLOCK ? rungs[Math.floor(random() * count)]?.difficulty : undefined
      const difficulty = explored ?? rule.choose()
      const best = Math.max(1e-12, ...rungs.map((rung) => computeSignal(now, rung.difficulty)))
      const isSettled = number % (condition.groups / 2) >= SETTLING_GROUPS
      return {
        step,
        difficulty,
        floor: condition.floor,
        regret: 1 - computeSignal(now, difficulty) / best,
        isCovered: isSettled ? covers(rule, now.place) : undefined,
        movedWrongly: false,
        ...answer(now, difficulty, condition, random),
      }
    })
    played.push(...asked)
    steps.push(asked)
    if (step >= condition.lag) for (const group of steps[step - condition.lag] ?? []) learn(rule, group, condition)
  }
  return played
}

function learn(rule: CurriculumRule, group: PlayedGroup, { rollouts }: Condition): void {
  const before = rule.choose()
  rule.learn(group.difficulty, group.score, rollouts, group)
  const side = Math.sign(group.score - group.formatted * (group.floor + (1 - group.floor) / 2))
  group.movedWrongly = (rule.choose() - before) * side < 0
}

function answer(
  { solve, ...model }: ReturnType<Model>,
  difficulty: number,
  { rollouts, floor, faulty, isPartial, ...condition }: Condition,
  random: () => number,
) {
  const untagged = model.untagged ?? condition.untagged
  const success = floor + (1 - floor) * shiftLogit(solve(difficulty), ITEM_DEVIATION * drawNormal(random))
  const answers = Array.from({ length: rollouts }, () => {
    if (random() < untagged) return { isFormatted: false, score: 0 }
    const isRight = random() >= faulty && random() < success
    return { isFormatted: true, score: isRight ? 1 : isPartial && random() < 0.5 ? 0.9 * random() : 0 }
  })
  const scores = answers.map(({ score }) => score)
  const formatted = mean(answers.map(({ isFormatted }) => Number(isFormatted)))
  return { score: mean(scores), formatted, hasSignal: new Set(scores).size > 1 }
}

function covers(rule: CurriculumRule, place: number | undefined): boolean | undefined {
  if (place === undefined) return undefined
  const [low, high] = rule.estimate().interval
  return low <= place && place <= high
}

function computeSignal({ solve }: ReturnType<Model>, difficulty: number): number {
  return solve(difficulty) * (1 - solve(difficulty))
}

function findFollowed(groups: readonly PlayedGroup[]): number {
  const after = groups.slice(groups.length / 2)
  const isNear = (k: number) => (after[k]?.regret ?? 1) < MAX_REGRET_OF_FOLLOWER
  const followed = after.findIndex((_, k) => isNear(k) && isNear(k + 1))
  return followed === -1 ? after.length : followed
}

function shiftLogit(rate: number, shift: number): number {
  if (rate <= 0 || rate >= 1) return rate
  return 1 / (1 + ((1 - rate) / rate) * Math.exp(-shift))
}

function drawNormal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length
}
