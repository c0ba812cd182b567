/** Models that stand still, improve, jump, collapse or lose their format, and how a frontier of one task follows them. */

import { seededRandom } from '@reasoning-gym-server/task-tools/seeded-random'
import type { FrontierRung } from '../../../../src/features/runs/curriculum/posterior.ts'

/** A model at one time. Items differ: the solve rate of an item varies around that of its rung. */
export interface SimulatedModel {
  /** Share of a rung's items that the model solves if its format is right. */
  solve(difficulty: number): number
  /** Share of its answers with the right format. */
  cap: number
  /** Difficulty where `solve` is one half; undefined if there is no such place. */
  place: number | undefined
}

export interface ChangeScenario {
  floor: number
  groups: number
  /** Group before which the model changes, if it changes at once. */
  changeAt?: number
  modelAt(group: number): SimulatedModel
}

export interface FrontierUnderTest {
  /** The level, and the difficulty of the next item. `uniform` is a number in [0, 1) of its position. */
  choose(uniform: number): { level: number; difficulty: number }
  learn(group: { score: number; rollouts: number; formatted: number; rung: FrontierRung }): void
  estimate(): { place: number; interval: [number, number]; slope: number }
}

export interface ChangeFigures {
  /** 1 − q(1 − q) at the level, relative to that of the best rung: mean over the groups after the settling ones. */
  regret: number
  /** The same at the difficulties of the items, which explore. */
  regretOfItems: number
  /** Share of the groups after which the interval covers the place. */
  coverage: number
  /** Mean distance of the estimated place from the place. */
  error: number
  /** Groups after the change until two in a row have a regret below 0.3: median and 90th percentile of the repetitions. */
  followed: number
  followedLate: number
}

const RUNGS = 12
const ROLLOUTS = 8
/** Groups after the start or a change that do not count for regret, coverage and error. */
const SETTLING_GROUPS = 20
const ITEM_DEVIATION = 0.8
const MAX_REGRET_OF_FOLLOWER = 0.3

/** A model whose items have a logit with this slope. */
export function logistic(place: number, slope: number, cap = 1): SimulatedModel {
  return { place, cap, solve: (difficulty) => 1 / (1 + Math.exp(-slope * (place - difficulty))) }
}

const still = (model: SimulatedModel, floor = 0, groups = 150): ChangeScenario => ({
  floor,
  groups,
  modelAt: () => model,
})
const change = (before: SimulatedModel, after: SimulatedModel, floor = 0): ChangeScenario => ({
  floor,
  groups: 120,
  changeAt: 60,
  modelAt: (group) => (group < 60 ? before : after),
})
const NOTHING: SimulatedModel = { place: undefined, cap: 1, solve: () => 0 }
/** Easy rungs are hard for this policy: it has learnt a symbol that only hard items have. */
const NON_MONOTONE: SimulatedModel = { place: undefined, cap: 1, solve: (difficulty) => 0.05 + 0.45 * difficulty }
const HUMP: SimulatedModel = {
  place: undefined,
  cap: 1,
  solve: (difficulty) => 0.03 + 0.5 * Math.exp(-0.5 * ((difficulty - 0.75) / 0.12) ** 2),
}

export const SCENARIOS = {
  'still, slope 2': still(logistic(0.45, 2)),
  'still, slope 4': still(logistic(0.6, 4)),
  'still, slope 10': still(logistic(0.35, 10)),
  'still, slope 20': still(logistic(0.7, 20)),
  'still, slope 40': still(logistic(0.5, 40)),
  'still, slope 10, floor 0.3': still(logistic(0.4, 10), 0.3),
  'still, slope 10, floor 0.5': still(logistic(0.6, 10), 0.5),
  'cap 0.85': still(logistic(0.5, 10, 0.85)),
  'cap 0.7': still(logistic(0.5, 10, 0.7)),
  'cap 0.5': still(logistic(0.5, 10, 0.5)),
  improving: { floor: 0, groups: 150, modelAt: (group) => logistic(0.2 + (0.7 * group) / 150, 10) },
  'jump 0.2 to 0.85': change(logistic(0.2, 10), logistic(0.85, 10)),
  'jump 0.85 to 0.2': change(logistic(0.85, 10), logistic(0.2, 10)),
  'jump 0.2 to 0.5': change(logistic(0.2, 10), logistic(0.5, 10)),
  'jump 0.2 to 0.85, floor 0.3': change(logistic(0.2, 20), logistic(0.85, 20), 0.3),
  'slope 25 to 4': change(logistic(0.5, 25), logistic(0.5, 4)),
  'collapse and back': {
    floor: 0,
    groups: 120,
    changeAt: 60,
    modelAt: (group) => (group >= 40 && group < 60 ? NOTHING : logistic(0.65, 10)),
  },
  'format learnt at once': change(logistic(0.7, 10, 0.08), logistic(0.7, 10)),
  'non-monotone': still(NON_MONOTONE, 0.5),
  hump: still(HUMP),
} as const satisfies Record<string, ChangeScenario>

export type ScenarioName = keyof typeof SCENARIOS

/** Measures a frontier on a scenario, in repetitions with seeds of their own. */
export function simulateChange(
  scenario: ChangeScenario,
  createFrontier: (rungs: readonly FrontierRung[]) => FrontierUnderTest,
  repetitions: number,
): ChangeFigures {
  const rungs = Array.from({ length: RUNGS }, (_, k) => ({ difficulty: k / (RUNGS - 1), floor: scenario.floor }))
  const regrets: number[] = []
  const itemRegrets: number[] = []
  const covered: number[] = []
  const errors: number[] = []
  const followed: number[] = []
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const random = seededRandom(1000 + repetition)
    const frontier = createFrontier(rungs)
    const path = Array.from({ length: scenario.groups }, (_, group) => {
      const model = scenario.modelAt(group)
      const { regret, itemRegret, estimate } = playGroup(model, frontier, rungs, random)
      const since = group - (scenario.changeAt !== undefined && group >= scenario.changeAt ? scenario.changeAt : 0)
      if (since >= SETTLING_GROUPS && model !== NOTHING) {
        regrets.push(regret)
        itemRegrets.push(itemRegret)
        if (model.place !== undefined) {
          covered.push(Number(estimate.interval[0] <= model.place && model.place <= estimate.interval[1]))
          errors.push(Math.abs(estimate.place - model.place))
        }
      }
      return regret
    })
    followed.push(findFollowed(path.slice(scenario.changeAt ?? 0)))
  }
  const sorted = followed.toSorted((a, b) => a - b)
  return {
    regret: mean(regrets),
    regretOfItems: mean(itemRegrets),
    coverage: mean(covered),
    error: mean(errors),
    followed: sorted[Math.floor(sorted.length / 2)] ?? 0,
    followedLate: sorted[Math.floor(sorted.length * 0.9)] ?? 0,
  }
}

function playGroup(
  model: SimulatedModel,
  frontier: FrontierUnderTest,
  rungs: readonly FrontierRung[],
  random: () => number,
) {
  const { level, difficulty } = frontier.choose(random())
  const rung = rungs.find((one) => one.difficulty === difficulty) ?? { difficulty, floor: 0 }
  const item = shiftLogit(model.solve(difficulty), ITEM_DEVIATION * drawNormal(random))
  const success = rung.floor + (1 - rung.floor) * item
  const rollouts = Array.from({ length: ROLLOUTS }, () => {
    const isFormatted = random() < model.cap
    return { isFormatted, score: Number(isFormatted && random() < success) }
  })
  const score = mean(rollouts.map((rollout) => rollout.score))
  const formatted = mean(rollouts.map(({ isFormatted }) => Number(isFormatted)))
  const value = (at: number) => model.solve(at) * (1 - model.solve(at))
  const best = Math.max(1e-9, ...rungs.map((one) => value(one.difficulty)))
  frontier.learn({ score, rollouts: ROLLOUTS, formatted, rung })
  return { regret: 1 - value(level) / best, itemRegret: 1 - value(difficulty) / best, estimate: frontier.estimate() }
}

function findFollowed(regrets: number[]): number {
  const isNear = (regret: number | undefined) => (regret ?? 0) < MAX_REGRET_OF_FOLLOWER
  const k = regrets.findIndex((regret, index) => isNear(regret) && isNear(regrets[index + 1]))
  return k === -1 ? regrets.length : k
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
