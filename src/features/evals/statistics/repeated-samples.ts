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
/** Number of random choices of k samples that maj@k averages if k is smaller than the number of samples. */
const MAJORITY_DRAWS = 64

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

/**
 * Returns the probability that the most common answer of k samples is correct. Ties between answers are broken at
 * random, and a sample without an answer has no vote. Equal samples give equal results.
 */
export function majorityAtK(samples: readonly ScoredSample[], k: number): number {
  if (k >= samples.length) return majorityCorrect(samples)
  let sum = 0
  for (let draw = 0; draw < MAJORITY_DRAWS; draw++) {
    sum += majorityCorrect(chooseSamples(samples, k, draw))
  }
  return sum / MAJORITY_DRAWS
}

/** Returns the share of correct answers among the most common ones. */
function majorityCorrect(samples: readonly ScoredSample[]): number {
  const answered = samples.filter(({ answer }) => answer !== null)
  const byAnswer = [...Map.groupBy(answered, ({ answer }) => answer?.trim()).values()]
  const most = Math.max(0, ...byAnswer.map((same) => same.length))
  const winners = byAnswer.filter((same) => same.length === most)
  return meanOrNull(winners.map((same) => (same.some(({ correct }) => correct) ? 1 : 0))) ?? 0
}

/** Chooses k of the samples with a shuffle by a multiplicative congruential generator that starts from `draw`. */
function chooseSamples(samples: readonly ScoredSample[], k: number, draw: number): ScoredSample[] {
  const rest = [...samples]
  let state = 1 + draw * 7919
  return Array.from({ length: k }, () => {
    state = (state * 48271) % 2147483647
    const [sample] = rest.splice(state % rest.length, 1)
    return sample
  }).filter((sample) => sample !== undefined)
}
