/** Runs the rules through the scenarios and measures how near they keep the learner to where it learns most. */
import { seededRandom } from '../../../src/features/tasks/check/attacks.ts'
import { SimulatedLearner } from './learner.ts'
import { type CurriculumRule, RULES } from './rules.ts'
import type { Scenario } from './scenarios.ts'

export interface ComparisonSize {
  tasks: number
  seeds: number
  /** Groups of each task. */
  groups: number
  rollouts: number
}

export interface ComparisonRow {
  rule: string
  /** Groups until the mean error of three groups is below 0.1. */
  settledMedian: number
  settledP90: number
  /** How much further the solve rate is from the target than on the best rung. */
  excessError: number
  excessErrorSecondHalf: number
  /** 1 − q(1 − q) of the rung that was asked, relative to the best rung. */
  regret: number
  regretSecondHalf: number
  groupsWithSignal: number
  groupsUsed: number
  skillGained: number
}

/** What one group of one task shows. */
interface GroupTrace {
  excessError: number
  regret: number
  signal: boolean
  used: boolean
}

const SETTLED_ERROR = 0.1
const SETTLED_GROUPS = 3

export function compareRules(scenario: Scenario, size: ComparisonSize): ComparisonRow[] {
  return Object.entries(RULES).map(([name, createRule]) => {
    const tracks = Array.from({ length: size.tasks * size.seeds }, (_, k) => {
      const floor = scenario.floors[k % scenario.floors.length] ?? 0
      const learner = new SimulatedLearner(scenario, floor, seededRandom(1 + k))
      const rule = createRule({ rungs: learner.rungs, target: scenario.target })
      return { traces: trainOneTask(rule, learner, scenario, size), skillGained: learner.skillGained }
    })
    return { rule: name, ...summarize(tracks, size) }
  })
}

function trainOneTask(
  rule: CurriculumRule,
  learner: SimulatedLearner,
  { target = 0.5, inFlight }: Scenario,
  { groups, rollouts }: ComparisonSize,
): GroupTrace[] {
  const waiting: { difficulty: number; score: number; trace: GroupTrace }[] = []
  return Array.from({ length: groups }, () => {
    const difficulty = rule.choose()
    const rung = learner.rungIndex(difficulty)
    const rates = learner.rungs.map((_, k) => learner.solveRate(k))
    const rate = rates[rung] ?? 0
    const right = learner.answer(rung, rollouts)
    const trace: GroupTrace = {
      excessError: Math.abs(rate - target) - Math.min(...rates.map((other) => Math.abs(other - target))),
      regret: 1 - (rate * (1 - rate)) / Math.max(...rates.map((other) => other * (1 - other))),
      signal: right > 0 && right < rollouts,
      used: true,
    }
    waiting.push({ difficulty, score: right / rollouts, trace })
    const first = waiting.length >= inFlight ? waiting.shift() : undefined
    if (first) first.trace.used = rule.learn(first.difficulty, first.score, rollouts)
    return trace
  })
}

function summarize(
  tracks: readonly { traces: readonly GroupTrace[]; skillGained: number }[],
  { groups }: ComparisonSize,
): Omit<ComparisonRow, 'rule'> {
  const all = tracks.flatMap(({ traces }) => traces)
  const late = tracks.flatMap(({ traces }) => traces.slice(groups / 2))
  const settled = tracks.map(({ traces }) => findSettled(traces)).toSorted((a, b) => a - b)
  return {
    settledMedian: settled[Math.floor(settled.length * 0.5)] ?? groups,
    settledP90: settled[Math.floor(settled.length * 0.9)] ?? groups,
    excessError: mean(all.map((trace) => trace.excessError)),
    excessErrorSecondHalf: mean(late.map((trace) => trace.excessError)),
    regret: mean(all.map((trace) => trace.regret)),
    regretSecondHalf: mean(late.map((trace) => trace.regret)),
    groupsWithSignal: mean(all.map(({ signal }) => Number(signal))),
    groupsUsed: mean(all.map(({ used }) => Number(used))),
    skillGained: mean(tracks.map(({ skillGained }) => skillGained)),
  }
}

function findSettled(traces: readonly GroupTrace[]): number {
  const first = traces.findIndex(
    (_, k) => mean(traces.slice(k, k + SETTLED_GROUPS).map(({ excessError }) => excessError)) < SETTLED_ERROR,
  )
  return first === -1 ? traces.length : first
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}
