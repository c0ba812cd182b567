/** Duels between simulated models: how often equals are told apart, and how many items unequal ones need. */
import { SequentialTest } from '../../src/features/evals/statistics/sequential-test.ts'

const MAX_ITEMS = 1000
const TASKS = 20
const OPTIONS = { alpha: 0.05, smallestDifference: 0.05 }

interface DuelScenario {
  name: string
  /** Mean of b less that of a, over all tasks. */
  gain: number
  /** Tasks on which a is better, and as many on which b is: by so much. */
  unevenness: number
}

const SCENARIOS: readonly DuelScenario[] = [
  { name: 'equal on every task', gain: 0, unevenness: 0 },
  { name: 'equal on average', gain: 0, unevenness: 0.3 },
  { name: 'better by 0.02', gain: 0.02, unevenness: 0.1 },
  { name: 'better by 0.05', gain: 0.05, unevenness: 0.1 },
  { name: 'better by 0.1', gain: 0.1, unevenness: 0.1 },
  { name: 'better by 0.2', gain: 0.2, unevenness: 0.1 },
  { name: 'better by 0.4', gain: 0.4, unevenness: 0.1 },
]

export interface DuelShares {
  name: string
  /** Winners that are not the better one. */
  falseAlarms: number
  /** Intervals at the end of the duel that do not hold the true difference. */
  missed: number
}

/** Prints a line for each scenario. */
export function simulateDuels(duels: number, random: () => number): DuelShares[] {
  console.log(`\nDuels of at most ${MAX_ITEMS} items, looked at after every item:`)
  return SCENARIOS.map((scenario) => {
    const tests = Array.from({ length: duels }, () => fight(scenario, random))
    const share = (is: (test: SequentialTest) => boolean) => tests.filter(is).length / duels
    const winner = share(({ decision }) => decision === 'b_better')
    const loser = share(({ decision }) => decision === 'a_better')
    const falseAlarms = loser + (scenario.gain === 0 ? winner : 0)
    const missed = share((test) => !holds(test.computeInterval(), -scenario.gain))
    const items = tests.reduce((sum, { pairs }) => sum + pairs, 0) / duels
    const percent = (value: number) => `${(100 * value).toFixed(1)}%`
    console.log(
      `${scenario.name.padEnd(24)} false alarms ${percent(falseAlarms)} | better one found ${scenario.gain === 0 ? '–' : percent(winner)} | equivalent ${percent(share(({ decision }) => decision === 'equivalent'))} | mean items ${items.toFixed(0)} | interval misses ${percent(missed)}`,
    )
    return { name: scenario.name, falseAlarms, missed }
  })
}

/** Items differ: half of them are right for both or wrong for both, whatever the models can do. */
function fight({ gain, unevenness }: DuelScenario, random: () => number): SequentialTest {
  const test = new SequentialTest(OPTIONS)
  while (!test.decision && test.pairs < MAX_ITEMS) {
    const sign = Math.floor(random() * TASKS) % 2 === 0 ? 1 : -1
    const difference = gain + sign * unevenness
    if (random() < 0.5) test.add(0)
    else test.add(draw(0.5 - difference, random) - draw(0.5 + difference, random))
  }
  return test
}

function draw(rate: number, random: () => number): number {
  return random() < rate ? 1 : 0
}

function holds([low, high]: [number, number], truth: number): boolean {
  return low <= truth && truth <= high
}
