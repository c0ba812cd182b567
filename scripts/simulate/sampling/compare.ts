/** Runs the rules for sampling on the mix of tasks and measures what the groups were worth. */
import { seededRandom } from '../../../src/features/tasks/check/attacks.ts'
import { SAMPLING_RULES, type SamplingRule } from './rules.ts'
import { type CurriculumName, MixedTask, type SimulatedGroup } from './task-mix.ts'

export interface SamplingScenario {
  name: string
  curriculum: CurriculumName
  /** Guess floors, dealt to the tasks in turn. */
  floors: readonly number[]
  improves: boolean
}

export const SAMPLING_SCENARIOS: readonly SamplingScenario[] = [
  { name: 'no curriculum', curriculum: 'none', floors: [0], improves: false },
  { name: 'the original’s curriculum', curriculum: 'original', floors: [0], improves: false },
  { name: 'frontier', curriculum: 'frontier', floors: [0], improves: false },
  { name: 'frontier, improving', curriculum: 'frontier', floors: [0], improves: true },
  { name: 'no curriculum, floors of 0 to 0.7', curriculum: 'none', floors: [0, 0.25, 0.5, 0.7], improves: false },
  {
    name: 'frontier, improving, floors of 0 to 0.7',
    curriculum: 'frontier',
    floors: [0, 0.25, 0.5, 0.7],
    improves: true,
  },
]

export interface SamplingSize {
  seeds: number
  tasks: number
  /** Of the run. */
  groups: number
  rollouts: number
  /** Groups that are drawn before the first of them comes back. */
  inFlight: number
}
export const SAMPLING_SIZE: SamplingSize = { seeds: 2, tasks: 105, groups: 4800, rollouts: 16, inFlight: 64 }

export interface SamplingRow {
  rule: string
  groupsWithSignal: number
  /** Mean of 4q(1 − q) over the items, q being what is solved and not guessed. */
  learnable: number
  /** Share of the groups that went to tasks in reach, and to those whose items are all right or all wrong. */
  inReach: number
  bimodal: number
  /** How evenly the tasks in reach are drawn: the exponential of the entropy of their shares, relative to their number. */
  evenness: number
  skillGained: number
}

export function compareSampling(scenario: SamplingScenario, size: SamplingSize, rules = Object.keys(SAMPLING_RULES)) {
  return rules.flatMap((rule): SamplingRow[] => {
    const create = SAMPLING_RULES[rule]
    if (!create) return []
    const rows = Array.from({ length: size.seeds }, (_, seed) =>
      simulateRun(create(size.tasks), scenario, size, seededRandom(11 + seed)),
    )
    const meanOf = (value: (row: Omit<SamplingRow, 'rule'>) => number) => mean(rows.map(value))
    return [
      {
        rule,
        groupsWithSignal: meanOf((row) => row.groupsWithSignal),
        learnable: meanOf((row) => row.learnable),
        inReach: meanOf((row) => row.inReach),
        bimodal: meanOf((row) => row.bimodal),
        evenness: meanOf((row) => row.evenness),
        skillGained: meanOf((row) => row.skillGained),
      },
    ]
  })
}

interface DrawnGroup extends SimulatedGroup {
  task: number
}

function simulateRun(
  rule: SamplingRule,
  { curriculum, floors, improves }: SamplingScenario,
  { tasks: count, groups, rollouts, inFlight }: SamplingSize,
  random: () => number,
): Omit<SamplingRow, 'rule'> {
  const tasks = Array.from(
    { length: count },
    (_, k) => new MixedTask(k, { curriculum, floor: floors[k % floors.length] ?? 0, improves }, random),
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

function summarize(tasks: readonly MixedTask[], drawn: readonly DrawnGroup[]): Omit<SamplingRow, 'rule'> {
  const shareOf = (kind: MixedTask['kind']) => mean(drawn.map(({ task }) => Number(tasks[task]?.kind === kind)))
  const counts = tasks.map((_, k) => drawn.filter(({ task }) => task === k).length)
  return {
    groupsWithSignal: mean(drawn.map(({ scores }) => Number(scores.some((score) => score !== scores[0])))),
    learnable: mean(drawn.map(({ learnable }) => learnable)),
    inReach: shareOf('in reach'),
    bimodal: shareOf('bimodal'),
    evenness: computeEvenness(counts.filter((_, k) => tasks[k]?.kind === 'in reach')),
    skillGained: mean(tasks.map(({ skillGained }) => skillGained)),
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

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}
