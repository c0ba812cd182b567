/** Aggregates the samples of an eval into its result: statistics in total and by task, category and difficulty. */
import type { EvalResult, EvalStatistics } from '../../contract/eval.ts'
import { meanOrNull } from '../../grading/statistics.ts'
import type { SampleVerdict } from './sample-output.ts'
import { clusteredMean, passAtK } from './statistics.ts'

/** From this score on an answer counts as correct: some tasks give almost full marks for another spelling. */
export const CORRECT_MIN_SCORE = 0.99
/** Below this temperature the samples of an item are nearly identical. */
const LOW_TEMPERATURE = 0.3
const MAX_CONSECUTIVE_K = 16

export interface SampledItem {
  task: string
  category: string
  difficulty: number | null
  /** One per sample; null for a missing one. */
  verdicts: (SampleVerdict | null)[]
}

function computeStatistics(items: SampledItem[]): EvalStatistics {
  const verdicts = items.flatMap((item) => item.verdicts)
  const received = verdicts.filter((verdict) => verdict !== null)
  const scored = received.filter((verdict) => verdict.score !== null)
  const scores = items.map((item) => item.verdicts.flatMap((verdict) => verdict?.score ?? []))
  const estimate = clusteredMean(scores)
  const formatErrors = scored.flatMap(({ fault }) => fault ?? [])
  const fractionOfScored = (count: number) => (scored.length === 0 ? null : count / scored.length)
  const sum = scores.flat().reduce((total, score) => total + score, 0)
  return {
    mean_score: estimate?.mean ?? null,
    stderr: estimate?.stderr ?? null,
    confidence_95: estimate?.confidence_95 ?? null,
    mean_score_failures_wrong: verdicts.length === 0 ? null : sum / verdicts.length,
    accuracy: fractionOfScored(scored.filter(({ score }) => (score ?? 0) >= CORRECT_MIN_SCORE).length),
    pass_at: computePassAtKs(scores),
    format_faults: fractionOfScored(formatErrors.length),
    faults: countByName(formatErrors),
    n: verdicts.length,
    items: items.length,
    scored: scored.length,
    unscored: received.length - scored.length,
    missing: verdicts.length - received.length,
    truncated: received.filter(({ finish_reason }) => finish_reason === 'length').length,
    mean_tokens: meanOrNull(received.flatMap(({ length_tokens }) => length_tokens ?? [])),
  }
}

/** For each k, the mean over the items with at least k scores. Every k up to 16, then powers of two and the largest. */
function computePassAtKs(items: number[][]): Record<string, number> {
  const maxScores = Math.max(0, ...items.map((scores) => scores.length))
  const ks = Array.from({ length: maxScores }, (_, k) => k + 1).filter(
    (k) => k <= MAX_CONSECUTIVE_K || k === maxScores || Number.isInteger(Math.log2(k)),
  )
  return Object.fromEntries(
    ks.map((k) => {
      const some = items.filter((scores) => scores.length >= k)
      const probabilities = some.map((scores) =>
        passAtK(scores.length, scores.filter((score) => score >= CORRECT_MIN_SCORE).length, k),
      )
      return [String(k), meanOrNull(probabilities) ?? 0]
    }),
  )
}

export function buildEvalResult(
  items: SampledItem[],
  { temperature, samplesPerItem, repeat }: { temperature: number | null; samplesPerItem: number; repeat: object },
): EvalResult {
  const groupBy = (key: (item: SampledItem) => string) =>
    [...Map.groupBy(items, key)].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const failureCodes = items.flatMap(({ verdicts }) => verdicts.flatMap((verdict) => verdict?.code ?? []))
  const statistics = computeStatistics(items)
  return {
    ...statistics,
    warnings: buildWarnings(statistics, temperature, samplesPerItem),
    failures: countByName(failureCodes),
    categories: Object.fromEntries(
      groupBy(({ category }) => category).map(([name, some]) => [name, computeStatistics(some)]),
    ),
    tasks: Object.fromEntries(
      groupBy(({ task }) => task).map(([name, some]) => [
        name,
        { ...computeStatistics(some), category: some[0]?.category ?? '' },
      ]),
    ),
    difficulties: Object.fromEntries(
      groupBy(({ difficulty }) => difficulty?.toString() ?? 'default').map(([name, some]) => [
        name,
        computeStatistics(some),
      ]),
    ),
    repeat: { ...repeat },
  }
}

function buildWarnings(
  { missing, unscored, n }: EvalStatistics,
  temperature: number | null,
  samplesPerItem: number,
): string[] {
  const warnings: string[] = []
  if (samplesPerItem > 1 && temperature !== null && temperature < LOW_TEMPERATURE)
    warnings.push(
      `pass_at means little at temperature ${temperature}: the samples of an item are nearly identical, so pass@k is close to pass@1`,
    )
  if (missing + unscored > 0)
    warnings.push(
      `${missing + unscored} of ${n} samples have no score: mean_score excludes them, mean_score_failures_wrong counts them as 0`,
    )
  return warnings
}

function countByName(names: string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, some]) => [name, some.length]))
}
