/**
 * Summarizes several samples of an item as pass@k (at least one of k correct, the unbiased estimator of Chen et al.,
 * arXiv 2107.03374), pass^k (all k correct, Yao et al., arXiv 2406.12045) and maj@k (the most common answer of k
 * correct, Wang et al., arXiv 2203.11171). All k use the same set of items, so that missing samples do not distort the
 * curves.
 */
import { estimatePassAtK } from '../../../grading/group-statistics.ts'
import { meanOrNull, sampleStd } from '../../../grading/statistics.ts'
import { memoizeByIdentity } from '../../../platform/shared-results.ts'

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
    majority_at: computeRates(complete, ks, (samples, k) => computeMajorityRates(samples).get(k) ?? 0),
  }
}

/** maj@k of one item by k. Kept with its samples, which are in several groups of a result: 256 of them take 20 ms. */
export const computeMajorityRates = memoizeByIdentity(
  (samples: readonly ScoredSample[]): ReadonlyMap<number, number> => majorityAt(samples, listKs(samples.length)),
)

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

/** Returns the probability that all of k samples are correct, given c correct ones of n: C(c, k) / C(n, k). Needs k ≤ n. */
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
 * Returns by k the probability that the most common answer of k samples, drawn without replacement, is correct. It is
 * exact: over all subsets. Ties between answers are broken at random, and a sample without an answer has no vote.
 */
export function majorityAt(samples: readonly ScoredSample[], ks: readonly number[]): Map<number, number> {
  const voted = samples.filter(({ answer }) => answer !== null)
  const answers = [...Map.groupBy(voted, ({ answer }) => answer?.trim()).values()].map((same) => ({
    count: same.length,
    correct: same.filter(({ correct }) => correct).length,
  }))
  const most = answers.some(({ correct }) => correct > 0) ? Math.max(...answers.map(({ count }) => count)) : 0
  const majorities = Array.from({ length: most }, (_, k) => countCorrectMajorities(answers, k + 1))
  const sums = majorities.reduce(
    (sum, counts) => sum.map((all, taken) => all + (counts[taken] ?? 0)),
    new Float64Array(voted.length + 1),
  )
  const silent = samples.length - voted.length
  return new Map(
    ks.map((k) => {
      const correct = sums
        .subarray(0, k + 1)
        .reduce((sum, count, taken) => sum + count * binomial(silent, k - taken), 0)
      return [k, correct / binomial(samples.length, k)]
    }),
  )
}

/**
 * Counts by their size the subsets in which the most common answers have `votes` votes each, weighted by the share of
 * these answers that is correct. Answer by answer, it counts the ways to draw each number of samples so that `top` answers
 * have `votes` votes and no answer has more.
 */
function countCorrectMajorities(answers: readonly EqualAnswers[], votes: number): Float64Array {
  const width = answers.filter(({ count }) => count >= votes).length + 1
  const size = answers.reduce((sum, { count }) => sum + Math.min(count, votes), 1)
  const ways = new Float64Array(size * width)
  /** The ways, each times the number of correct answers among those with `votes` votes. */
  const wins = new Float64Array(size * width)
  ways[0] = 1
  let [largest, tops] = [0, 0] // of the answers so far
  for (const { count, correct } of answers) {
    const limit = Math.min(count, votes)
    const choices = Float64Array.from({ length: limit + 1 }, (_, taken) => binomial(count, taken))
    const correctChoices = binomial(count, votes) - binomial(count - correct, votes)
    for (let drawn = largest; drawn >= 0; drawn--) {
      for (let top = Math.min(tops, Math.floor(drawn / votes)); top >= 0; top--) {
        const cell = drawn * width + top
        const [before, won] = [ways[cell] ?? 0, wins[cell] ?? 0]
        if (before === 0) continue
        for (let taken = 1; taken <= limit; taken++) {
          const isTop = taken === votes
          const next = cell + taken * width + Number(isTop)
          ways[next] = (ways[next] ?? 0) + before * (choices[taken] ?? 0)
          wins[next] = (wins[next] ?? 0) + won * (choices[taken] ?? 0) + (isTop ? before * correctChoices : 0)
        }
      }
    }
    largest += limit
    tops += Number(count >= votes)
  }
  const counts = new Float64Array(size)
  for (let taken = 0; taken < size; taken++)
    for (let top = 1; top < width; top++) counts[taken] = (counts[taken] ?? 0) + (wins[taken * width + top] ?? 0) / top
  return counts
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
