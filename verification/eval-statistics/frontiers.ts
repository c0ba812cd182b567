/** Frontier evals of simulated models whose place on the ladder is known: how near the estimate comes, how often the interval holds it. */
import {
  chooseRound,
  computePosterior,
  type FrontierAnswer,
  summarizePosterior,
} from '../../src/features/evals/statistics/frontier-eval-posterior.ts'

const ITEMS = 20
const ROUND = 4

interface FrontierScenario {
  name: string
  rungs: number
  floor: number
  /** Share of the answers that are wrong whatever the difficulty. */
  slips: number
}

const SCENARIOS: readonly FrontierScenario[] = [
  { name: '20 rungs', rungs: 20, floor: 0, slips: 0 },
  { name: '6 rungs', rungs: 6, floor: 0, slips: 0 },
  { name: '20 rungs, floor 0.25', rungs: 20, floor: 0.25, slips: 0 },
  { name: '20 rungs, floor 0.5', rungs: 20, floor: 0.5, slips: 0 },
  { name: '20 rungs, 5% slips', rungs: 20, floor: 0, slips: 0.05 },
]

export interface FrontierShares {
  name: string
  /** Intervals of 90% that hold the true place. */
  covered: number
}

/** Prints a line for each scenario: asked adaptively, and at difficulties that are spread evenly. */
export function simulateFrontiers(models: number, random: () => number): FrontierShares[] {
  console.log(`\nFrontier evals of ${ITEMS} items in rounds of ${ROUND}:`)
  return SCENARIOS.map((scenario) => {
    const adaptive = measure(scenario, { models, random, isAdaptive: true })
    const even = measure(scenario, { models, random, isAdaptive: false })
    const format = ({ error, width }: typeof adaptive) => `error ${error.toFixed(3)}, width ${width.toFixed(3)}`
    const coverage = `90% interval covers ${(100 * adaptive.covered).toFixed(1)}%`
    console.log(`${scenario.name.padEnd(24)} ${format(adaptive)} | ${coverage} | evenly spread: ${format(even)}`)
    return { name: scenario.name, covered: adaptive.covered }
  })
}

function measure(
  scenario: FrontierScenario,
  { models, random, isAdaptive }: { models: number; random: () => number; isAdaptive: boolean },
) {
  let [error, width, covered] = [0, 0, 0]
  for (let k = 0; k < models; k++) {
    const place = random()
    const slope = 4 + 18 * random()
    const { difficulty, interval_90 } = summarizePosterior(
      computePosterior(ask(scenario, { place, slope, random, isAdaptive })),
    )
    error += Math.abs(difficulty - place) / models
    width += (interval_90[1] - interval_90[0]) / models
    if (interval_90[0] <= place && place <= interval_90[1]) covered += 1 / models
  }
  return { error, width, covered }
}

interface SimulatedModel {
  place: number
  slope: number
  random: () => number
  isAdaptive: boolean
}

function ask(
  { rungs, floor, slips }: FrontierScenario,
  { place, slope, random, isAdaptive }: SimulatedModel,
): FrontierAnswer[] {
  const ladder = Array.from({ length: rungs }, (_, k) => ({ difficulty: k / (rungs - 1), floor }))
  const answers: FrontierAnswer[] = []
  while (answers.length < ITEMS) {
    const spread = Array.from({ length: ROUND }, (_, k) => ladder[Math.floor(((answers.length + k) * rungs) / ITEMS)])
    const asked = isAdaptive ? chooseRound(computePosterior(answers), ladder, ROUND) : spread
    for (const rung of asked) {
      if (!rung) continue
      const solved = 1 / (1 + Math.exp(-slope * (place - rung.difficulty)))
      const rate = (floor + (1 - floor) * solved) * (1 - slips)
      answers.push({ rung, score: random() < rate ? 1 : 0 })
    }
  }
  return answers
}
