/**
 * How often the statistics of evals are wrong, in simulated evals whose truth is known.
 *   npm run verify -- eval-statistics [--pairs 600] [--seed 1]
 * Prints the false alarms of GET /eval/compare and how often 95% intervals hold the true value, for suites of the shapes
 * that the server has; then of duels, however early they stop; then how near frontier evals come. Exit 1 if false alarms are
 * above 5%, a 95% interval covers less than 93% or a 90% interval less than 87%, beyond chance.
 */
import { parseArgs } from 'node:util'
import { clusteredMean, meanAcrossTasks, stratifiedMean } from '../src/features/evals/statistics/means.ts'
import {
  holmCorrection,
  pairedDifference,
  stratifiedDifference,
} from '../src/features/evals/statistics/paired-differences.ts'
import { seededRandom } from '../src/features/tasks/check/attacks.ts'
import { simulateDuels } from './eval-statistics/duels.ts'
import { simulateFrontiers } from './eval-statistics/frontiers.ts'

interface SuiteShape {
  name: string
  tasks: number
  itemsPerTask: number
  samples: number
}

const SHAPES: readonly SuiteShape[] = [
  { name: 'original, 1 sample', tasks: 20, itemsPerTask: 5, samples: 1 },
  { name: 'original, 4 samples', tasks: 20, itemsPerTask: 5, samples: 4 },
  { name: 'full, 1 sample', tasks: 105, itemsPerTask: 10, samples: 1 },
  { name: 'ladder, 1 sample', tasks: 101, itemsPerTask: 9, samples: 1 },
  { name: 'three tasks of 50 items', tasks: 3, itemsPerTask: 50, samples: 1 },
]
const MEAN_RATE = 0.5
const MAX_FALSE_ALARMS = 0.05
const MIN_COVERAGE = 0.93
const MIN_FRONTIER_COVERAGE = 0.87

const { values } = parseArgs({
  options: {
    pairs: { type: 'string', default: '600' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean' },
  },
})
if (values.help) {
  console.log('npm run verify -- eval-statistics [--pairs 600] [--seed 1]')
  process.exit(0)
}
const pairs = Number(values.pairs)
const random = seededRandom(Number(values.seed))
/** Three standard errors of a share that is found in so many simulations. */
const chance = (share: number) => 3 * Math.sqrt((share * (1 - share)) / pairs)
let failed = false
for (const shape of SHAPES) {
  const shares = simulate(shape)
  const formatted = Object.entries(shares).map(([name, share]) => `${name} ${(100 * share).toFixed(1)}%`)
  console.log(`${shape.name.padEnd(24)} ${formatted.join(' | ')}`)
  const { 'any task: false alarms': tasks, 'whole suite: false alarms': suite, ...coverages } = shares
  failed ||= Math.max(tasks, suite) > MAX_FALSE_ALARMS + chance(MAX_FALSE_ALARMS)
  failed ||= Math.min(...Object.values(coverages)) < MIN_COVERAGE - chance(MIN_COVERAGE)
}
for (const { falseAlarms, missed } of simulateDuels(pairs, random))
  failed ||= Math.max(falseAlarms, missed) > MAX_FALSE_ALARMS + chance(MAX_FALSE_ALARMS)
for (const { covered } of simulateFrontiers(pairs, random))
  failed ||= covered < MIN_FRONTIER_COVERAGE - chance(MIN_FRONTIER_COVERAGE)
if (failed) {
  console.error('False alarms are above 5%, or an interval covers too little.')
  process.exitCode = 1
}

/** Two equal models on the same items, again and again. */
function simulate(shape: SuiteShape) {
  const counts = { taskAlarms: 0, suiteAlarms: 0, suiteCovers: 0, otherTasksCovers: 0, taskCovers: 0, taskIntervals: 0 }
  const taskRates = Array.from({ length: shape.tasks }, () => drawRate())
  const suiteMean = mean(taskRates)
  for (let k = 0; k < pairs; k++) {
    const items = taskRates.map((rate) => Array.from({ length: shape.itemsPerTask }, () => drawItemRate(rate)))
    const a = items.map((rates) => rates.map((rate) => drawScores(rate, shape.samples)))
    const b = items.map((rates) => rates.map((rate) => drawScores(rate, shape.samples)))
    const differences = a.map((scores, task) => pairScores(scores, b[task] ?? []))
    const ps = differences.flatMap((some) => pairedDifference(some)?.p ?? [])
    if (holmCorrection(ps).some((p) => p < 0.05)) counts.taskAlarms++
    if ((stratifiedDifference(differences)?.p ?? 1) < 0.05) counts.suiteAlarms++
    if (covers(stratifiedMean(a)?.confidence_95, suiteMean)) counts.suiteCovers++
    // For other tasks of the kind the truth is the mean of the distribution that tasks are drawn from.
    const fresh = Array.from({ length: shape.tasks }, () => {
      const rate = drawRate()
      return Array.from({ length: shape.itemsPerTask }, () => drawScores(drawItemRate(rate), shape.samples)).flat()
    })
    if (covers(meanAcrossTasks(fresh)?.confidence_95, MEAN_RATE)) counts.otherTasksCovers++
    a.forEach((scores, task) => {
      counts.taskIntervals++
      if (covers(clusteredMean(scores)?.confidence_95, taskRates[task] ?? 0)) counts.taskCovers++
    })
  }
  return {
    'any task: false alarms': counts.taskAlarms / pairs,
    'whole suite: false alarms': counts.suiteAlarms / pairs,
    'suite again: covered': counts.suiteCovers / pairs,
    'other tasks: covered': counts.otherTasksCovers / pairs,
    'one task: covered': counts.taskCovers / counts.taskIntervals,
  }
}

/** Tasks are easy, hard, or anything between: MEAN_RATE on average. */
function drawRate(): number {
  return random()
}

/** Items of a task differ: half of them are as hard as the task, the others are nearly right or nearly wrong. */
function drawItemRate(taskRate: number): number {
  if (random() < 0.5) return taskRate
  return random() < taskRate ? 0.98 + 0.02 * taskRate : 0.02 * taskRate
}

function drawScores(rate: number, samples: number): number[] {
  return Array.from({ length: samples }, () => (random() < rate ? 1 : 0))
}

function pairScores(a: readonly number[][], b: readonly number[][]): [number, number][] {
  return a.map((scores, k) => [mean(scores), mean(b[k] ?? [])])
}

function covers(interval: readonly number[] | null | undefined, truth: number): boolean {
  return interval !== null && interval !== undefined && (interval[0] ?? 0) <= truth && truth <= (interval[1] ?? 1)
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}
