/**
 * Summarizes several samples of an item as pass@k (at least one of k correct, the unbiased estimator of Chen et al.,
 * arXiv 2107.03374), pass^k (all k correct, Yao et al., arXiv 2406.12045) and maj@k (the most common answer of k
 * correct, Wang et al., arXiv 2203.11171). All k use the same set of items, so that missing samples do not distort the
 * curves.
 */
import { estimatePassAtK } from '../../../grading/group-statistics.ts'
import { meanOrNull, sampleStd } from '../../../grading/statistics.ts'

export interface ScoredSample {
  correct: boolean
  answer: string | null
}

interface RateByK {
  /** Mean over the items, keyed by k. */
  mean: Record<string, number>
  /** Standard error of each mean over the items; null for a single item. */
  stderr: Record<string, number | null>
}

const MAX_CONSECUTIVE_K = 16

export function computeRepeatedSamples(items: readonly (readonly ScoredSample[])[]) {
  const most = Math.max(0, ...items.map((samples) => samples.length))
  const complete = most === 0 ? [] : items.filter((samples) => samples.length === most)
  const ks = listKs(most)
  const countCorrect = (samples: readonly ScoredSample[]) => samples.filter(({ correct }) => correct).length
  return {
    /** Number of items that have as many scored samples as the item with the most. */
    items: complete.length,
    pass_at: computeRates(complete, ks, (samples, k) => estimatePassAtK(most, countCorrect(samples), k)),
    pass_all: computeRates(complete, ks, (samples, k) => passAllK(most, countCorrect(samples), k)),
    majority_at: computeRates(complete, ks, majorityAtK),
  }
}

/** Lists every k up to 16, then powers of two, and the largest. */
function listKs(most: number): number[] {
  return Array.from({ length: most }, (_, k) => k + 1).filter(
    (k) => k <= MAX_CONSECUTIVE_K || k === most || Number.isInteger(Math.log2(k)),
  )
}

function computeRates(
  items: readonly (readonly ScoredSample[])[],
  ks: readonly number[],
  rate: (samples: readonly ScoredSample[], k: number) => number,
): RateByK {
  const rates = ks.map((k) => ({ k: String(k), values: items.map((samples) => rate(samples, k)) }))
  return {
    mean: Object.fromEntries(rates.map(({ k, values }) => [k, meanOrNull(values) ?? 0])),
    stderr: Object.fromEntries(
      rates.map(({ k, values }) => [k, values.length < 2 ? null : sampleStd(values) / Math.sqrt(values.length)]),
    ),
  }
}

/**
 * Returns the probability that all of k samples are correct, given c correct ones of n: C(c, k) / C(n, k). Needs k ≤ n.
 */
export function passAllK(n: number, c: number, k: number): number {
  if (c < k) return 0
  let all = 1
  for (let i = c + 1; i <= n; i++) all *= 1 - k / i
  return all
}

/** Equal answers of an item: how many samples gave them, and how many of these are correct. */
interface EqualAnswers {
  count: number
  correct: number
}

/**
 * Returns the probability that the most common answer of k samples, drawn without replacement, is correct. It is exact:
 * over all subsets. Ties between answers are broken at random, and a sample without an answer has no vote.
 */
export function majorityAtK(samples: readonly ScoredSample[], k: number): number {
  const drawn = Math.min(k, samples.length)
  const voted = samples.filter(({ answer }) => answer !== null)
  const answers = [...Map.groupBy(voted, ({ answer }) => answer?.trim()).values()].map((same) => ({
    count: same.length,
    correct: same.filter(({ correct }) => correct).length,
  }))
  if (answers.every(({ correct }) => correct === 0)) return 0
  const most = Math.max(...answers.map(({ count }) => count))
  let correct = 0
  for (let votes = 1; votes <= Math.min(most, drawn); votes++)
    correct += countCorrectMajorities(answers, votes, samples.length - voted.length, drawn)
  return correct / binomial(samples.length, drawn)
}

/**
 * Counts the subsets in which the most common answers have `votes` votes each, weighted by the share of these answers
 * that is correct. Answer by answer, it counts the ways to draw t samples of which w answers have `votes` votes and no
 * answer has more.
 */
function countCorrectMajorities(
  answers: readonly EqualAnswers[],
  votes: number,
  silent: number,
  drawn: number,
): number {
  const width = Math.min(answers.filter(({ count }) => count >= votes).length, Math.floor(drawn / votes)) + 1
  const size = (drawn + 1) * width
  let ways = new Float64Array(size)
  /** The ways, each times the number of correct answers among those with `votes` votes. */
  let wins = new Float64Array(size)
  ways[0] = 1
  for (const { count, correct } of answers) {
    const [nextWays, nextWins] = [new Float64Array(size), new Float64Array(size)]
    for (let taken = 0; taken <= Math.min(count, votes); taken++) {
      const choices = binomial(count, taken)
      const isTop = taken === votes
      const correctChoices = isTop ? choices - binomial(count - correct, taken) : 0
      const shift = taken * width + Number(isTop)
      for (let cell = 0; cell + shift < size; cell++) {
        const before = ways[cell] ?? 0
        if (before === 0) continue
        nextWays[cell + shift] = (nextWays[cell + shift] ?? 0) + before * choices
        nextWins[cell + shift] = (nextWins[cell + shift] ?? 0) + (wins[cell] ?? 0) * choices + before * correctChoices
      }
    }
    ways = nextWays
    wins = nextWins
  }
  let total = 0
  for (let taken = 0; taken <= drawn; taken++)
    for (let top = 1; top < width; top++)
      total += ((wins[taken * width + top] ?? 0) / top) * binomial(silent, drawn - taken)
  return total
}

/** Pascal's triangle. 256 samples of an item, the most that there are, stay far below the largest double. */
const pascalRows: number[][] = [[1]]

function binomial(n: number, k: number): number {
  for (let row = pascalRows.length; row <= n; row++) {
    const above = pascalRows[row - 1] ?? []
    pascalRows.push(Array.from({ length: row + 1 }, (_, i) => (above[i - 1] ?? 0) + (above[i] ?? 0)))
  }
  return pascalRows[n]?.[k] ?? 0
}
