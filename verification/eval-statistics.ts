/**
 * How often the statistics of evals are wrong, in simulated evals whose truth is known: false alarms of GET /eval/compare,
 * and how often intervals hold the true value. Fails if false alarms are above 5%, a 95% interval covers less than 93% or a
 * 90% interval less than 87%, beyond chance.
 */
import { parseArgs } from 'node:util'
import { seededRandom } from '@reasoning-gym-server/task-tools/seeded-random'
import {
  chooseRound,
  computePosterior,
  type FrontierAnswer,
  summarizeAnswers,
} from '../src/features/evals/statistics/frontier-eval-posterior.ts'
import { clusteredMean, meanAcrossTasks, stratifiedMean } from '../src/features/evals/statistics/means.ts'
import {
  holmCorrection,
  pairedDifference,
  stratifiedDifference,
} from '../src/features/evals/statistics/paired-differences.ts'

/** Suites of the shapes that the server has: tasks, items per task, samples per item. */
const SHAPES: Record<string, [tasks: number, itemsPerTask: number, samples: number]> = {
  'original, 1 sample': [20, 5, 1],
  'original, 4 samples': [20, 5, 4],
  'full, 1 sample': [105, 10, 1],
  'ladder, 1 sample': [101, 9, 1],
  'three tasks of 50 items': [3, 50, 1],
}
/** Malformed: the share of the answers that fail their format, whatever the difficulty. */
const FRONTIERS: Record<string, [rungs: number, floor: number, malformed: number]> = {
  '20 rungs': [20, 0, 0],
  '6 rungs': [6, 0, 0],
  '20 rungs, floor 0.25': [20, 0.25, 0],
  '20 rungs, floor 0.5': [20, 0.5, 0],
  '20 rungs, 5% malformed': [20, 0, 0.05],
  '20 rungs, 15% malformed': [20, 0, 0.15],
  '20 rungs, 30% malformed': [20, 0, 0.3],
  '6 rungs, 30% malformed': [6, 0, 0.3],
  '20 rungs, floor 0.25, 30% malformed': [20, 0.25, 0.3],
  '20 rungs, 50% malformed': [20, 0, 0.5],
}
const FRONTIER_ITEMS = 20
const FRONTIER_ROUND = 4
const MEAN_RATE = 0.5
const MAX_FALSE_ALARMS = 0.05
const MIN_COVERAGE = 0.93
const MIN_FRONTIER_COVERAGE = 0.87

const { values } = parseArgs({
  options: { pairs: { type: 'string', default: '600' }, seed: { type: 'string', default: '1' } },
})
const pairs = Number(values.pairs)
const random = seededRandom(Number(values.seed))
/** Three standard errors of a share that is found in so many simulations. */
const chance = (share: number) => 3 * Math.sqrt((share * (1 - share)) / pairs)
let failed = false
for (const [name, shape] of Object.entries(SHAPES)) {
  const { alarms, coverages } = simulateSuites(...shape)
  print(name, { ...alarms, ...coverages })
  failed ||= Math.max(...Object.values(alarms)) > MAX_FALSE_ALARMS + chance(MAX_FALSE_ALARMS)
  failed ||= Math.min(...Object.values(coverages)) < MIN_COVERAGE - chance(MIN_COVERAGE)
}
console.log('\nTwins of a suite of 100 items, for models that know a share of the suite by heart:')
for (const known of [0, 0.1, 0.3, 1]) {
  const shown = simulateTwins(known)
  print(`knows ${100 * known}%`, { 'memory shown': shown })
  failed ||= known === 0 && shown > MAX_FALSE_ALARMS + chance(MAX_FALSE_ALARMS)
}
console.log(
  `\nFrontier evals of ${FRONTIER_ITEMS} items in rounds of ${FRONTIER_ROUND}, and asked at even difficulties:`,
)
for (const [name, frontier] of Object.entries(FRONTIERS)) {
  const [adaptive, even] = [simulateFrontiers(true, ...frontier), simulateFrontiers(false, ...frontier)]
  const errors = `error ${adaptive.error.toFixed(3)}, even ${even.error.toFixed(3)} | cap ${adaptive.cap.toFixed(2)}`
  print(name, { '90% interval covers': adaptive.covered }, errors)
  failed ||= adaptive.covered < MIN_FRONTIER_COVERAGE - chance(MIN_FRONTIER_COVERAGE)
}
if (failed) {
  console.error('False alarms are above 5%, or an interval covers too little.')
  process.exitCode = 1
}

function print(name: string, shares: Record<string, number>, more = ''): void {
  const formatted = Object.entries(shares).map(([what, share]) => `${what} ${(100 * share).toFixed(1)}%`)
  console.log(`${name.padEnd(24)} ${[...formatted, more].filter(Boolean).join(' | ')}`)
}

/** Two equal models on the same items, again and again. */
function simulateSuites(tasks: number, itemsPerTask: number, samples: number) {
  const counts = {
    taskAlarms: 0,
    suiteAlarms: 0,
    suiteCovers: 0,
    otherTasksCovers: 0,
    taskCovers: 0,
    differences: 0,
    differenceCovers: 0,
  }
  const taskRates = drawMany(tasks, random) // easy, hard, or anything between: MEAN_RATE on average
  const draw = (rate: number) => drawMany(itemsPerTask, () => drawScores(drawItemRate(rate), samples))
  for (let k = 0; k < pairs; k++) {
    const items = taskRates.map((rate) => drawMany(itemsPerTask, () => drawItemRate(rate)))
    const [a, b] = [items, items].map((all) => all.map((rates) => rates.map((rate) => drawScores(rate, samples))))
    if (!a || !b) continue
    const differences = a.map((scores, task) => pairScores(scores, b[task] ?? []))
    const compared = differences.map(pairedDifference)
    const intervals = compared.flatMap((some) => (some?.confidence_95 ? [some.confidence_95] : [])) // of six items or more
    counts.differences += intervals.length
    counts.differenceCovers += intervals.filter((interval) => holds(interval, 0)).length
    const ps = compared.flatMap((some) => some?.p ?? [])
    if (holmCorrection(ps).some((p) => p < 0.05)) counts.taskAlarms++
    if ((stratifiedDifference(differences)?.p ?? 1) < 0.05) counts.suiteAlarms++
    if (holds(stratifiedMean(a)?.confidence_95, mean(taskRates))) counts.suiteCovers++
    // For other tasks of the kind the truth is the mean of the distribution that tasks are drawn from.
    const others = drawMany(tasks, () => draw(random()).flat())
    if (holds(meanAcrossTasks(others)?.confidence_95, MEAN_RATE)) counts.otherTasksCovers++
    for (const [task, scores] of a.entries())
      if (holds(clusteredMean(scores)?.confidence_95, taskRates[task] ?? 0)) counts.taskCovers++
  }
  return {
    alarms: {
      'any task: false alarms': counts.taskAlarms / pairs,
      'whole suite: false alarms': counts.suiteAlarms / pairs,
    },
    coverages: {
      'suite again: covered': counts.suiteCovers / pairs,
      'other tasks: covered': counts.otherTasksCovers / pairs,
      'one task: covered': counts.taskCovers / (pairs * tasks),
      ...(counts.differences > 0 && {
        'difference on one task: covered': counts.differenceCovers / counts.differences,
      }),
    },
  }
}

/** The share of models whose memory of the suite is shown. An item that a model does not know is as hard as any of its task. */
function simulateTwins(known: number): number {
  const [tasks, itemsPerTask, samples] = SHAPES['original, 1 sample'] ?? [0, 0, 0]
  const shown = drawMany(pairs, () => {
    const strata = drawMany(tasks, random).map((rate) =>
      drawMany(itemsPerTask, () => {
        const [item, twin] = [random() < known ? 1 : drawItemRate(rate), drawItemRate(rate)]
        return [mean(drawScores(item, samples)), mean(drawScores(twin, samples))] as [number, number]
      }),
    )
    const { difference, p } = stratifiedDifference(strata) ?? { difference: 0, p: 1 }
    return difference > 0 && (p ?? 1) < 0.05
  })
  return shown.filter(Boolean).length / pairs
}

/** Items of a task differ: half of them are as hard as the task, the others are nearly right or nearly wrong. */
function drawItemRate(taskRate: number): number {
  if (random() < 0.5) return taskRate
  return random() < taskRate ? 0.98 + 0.02 * taskRate : 0.02 * taskRate
}

/** Models whose place on the ladder is known: how near the estimate comes, how often the interval holds it. */
function simulateFrontiers(isAdaptive: boolean, rungs: number, floor: number, malformed: number) {
  const ladder = Array.from({ length: rungs }, (_, k) => ({ difficulty: k / (rungs - 1), floor }))
  const models = drawMany(pairs, () => {
    const [place, slope] = [random(), 4 + 18 * random()]
    const answers: FrontierAnswer[] = []
    while (answers.length < FRONTIER_ITEMS) {
      const even = Array.from(
        { length: FRONTIER_ROUND },
        (_, k) => ladder[Math.floor(((answers.length + k) * rungs) / FRONTIER_ITEMS)],
      )
      for (const rung of isAdaptive ? chooseRound(computePosterior(answers), ladder, FRONTIER_ROUND) : even) {
        if (!rung) continue
        const solved = 1 / (1 + Math.exp(-slope * (place - rung.difficulty)))
        const isFormatted = random() >= malformed
        answers.push({ rung, isFormatted, score: isFormatted ? drawScore(floor + (1 - floor) * solved) : 0 })
      }
    }
    const { difficulty, interval_90, cap } = summarizeAnswers(answers)
    return { error: Math.abs(difficulty - place), isCovered: holds(interval_90, place), cap }
  })
  return {
    error: mean(models.map(({ error }) => error)),
    covered: models.filter(({ isCovered }) => isCovered).length / pairs,
    cap: mean(models.map(({ cap }) => cap)),
  }
}

function drawMany<T>(count: number, draw: () => T): T[] {
  return Array.from({ length: count }, draw)
}

function drawScore(rate: number): number {
  return random() < rate ? 1 : 0
}

function drawScores(rate: number, samples: number): number[] {
  return drawMany(samples, () => drawScore(rate))
}

function pairScores(a: readonly number[][], b: readonly number[][]): [number, number][] {
  return a.map((scores, k) => [mean(scores), mean(b[k] ?? [])])
}

function holds(interval: readonly number[] | null | undefined, truth: number): boolean {
  return interval !== null && interval !== undefined && (interval[0] ?? 0) <= truth && truth <= (interval[1] ?? 1)
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}
