/** From the samples of an eval to its figures: in all, and by task, category and difficulty. */
import type { EvalResult, EvalStatistics } from '../../contract/eval.ts'
import type { SampleVerdict } from './sample-output.ts'
import { clusteredMean, mean, passAtK } from './statistics.ts'

/** A score that counts as right: some tasks give all but full marks for another spelling. */
export const CORRECT_MIN_SCORE = 0.99
/** Below this temperature the samples of an item are nearly the same. */
const LOW_TEMPERATURE = 0.3
const MAX_CONSECUTIVE_K = 16

/** An item with what became of its samples; null for one that never came. */
export interface SampledItem {
  task: string
  category: string
  difficulty: number | null
  verdicts: (SampleVerdict | null)[]
}

function computeStatistics(items: SampledItem[]): EvalStatistics {
  const verdicts = items.flatMap((item) => item.verdicts)
  const came = verdicts.filter((verdict) => verdict !== null)
  const scored = came.filter((verdict) => verdict.score !== null)
  const scores = items.map((item) => item.verdicts.flatMap((verdict) => verdict?.score ?? []))
  const found = clusteredMean(scores)
  const faulty = scored.flatMap(({ fault }) => fault ?? [])
  const share = (count: number) => (scored.length === 0 ? null : count / scored.length)
  const sum = scores.flat().reduce((total, score) => total + score, 0)
  return {
    mean_score: found?.mean ?? null,
    stderr: found?.stderr ?? null,
    confidence_95: found?.confidence_95 ?? null,
    mean_score_failures_wrong: verdicts.length === 0 ? null : sum / verdicts.length,
    accuracy: share(scored.filter(({ score }) => (score ?? 0) >= CORRECT_MIN_SCORE).length),
    pass_at: computePassAtKs(scores),
    format_faults: share(faulty.length),
    faults: countByName(faulty),
    n: verdicts.length,
    items: items.length,
    scored: scored.length,
    unscored: came.length - scored.length,
    missing: verdicts.length - came.length,
    truncated: came.filter(({ finish_reason }) => finish_reason === 'length').length,
    mean_tokens: mean(came.flatMap(({ length_tokens }) => length_tokens ?? [])),
  }
}

/** For each k the mean over the items that have k scores. Every k up to 16, then powers of two and the last. */
function computePassAtKs(items: number[][]): Record<string, number> {
  const most = Math.max(0, ...items.map((scores) => scores.length))
  const ks = Array.from({ length: most }, (_, k) => k + 1).filter(
    (k) => k <= MAX_CONSECUTIVE_K || k === most || Number.isInteger(Math.log2(k)),
  )
  return Object.fromEntries(
    ks.map((k) => {
      const some = items.filter((scores) => scores.length >= k)
      const chances = some.map((scores) =>
        passAtK(scores.length, scores.filter((score) => score >= CORRECT_MIN_SCORE).length, k),
      )
      return [String(k), mean(chances) ?? 0]
    }),
  )
}

export function buildEvalResult(
  items: SampledItem[],
  { temperature, samplesPerItem, repeat }: { temperature: number | null; samplesPerItem: number; repeat: object },
): EvalResult {
  const by = (key: (item: SampledItem) => string) =>
    [...Map.groupBy(items, key)].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const lost = items.flatMap(({ verdicts }) => verdicts.flatMap((verdict) => verdict?.code ?? []))
  const figures = computeStatistics(items)
  return {
    ...figures,
    warnings: buildWarnings(figures, temperature, samplesPerItem),
    failures: countByName(lost),
    categories: Object.fromEntries(
      by(({ category }) => category).map(([name, some]) => [name, computeStatistics(some)]),
    ),
    tasks: Object.fromEntries(
      by(({ task }) => task).map(([name, some]) => [
        name,
        { ...computeStatistics(some), category: some[0]?.category ?? '' },
      ]),
    ),
    difficulties: Object.fromEntries(
      by(({ difficulty }) => difficulty?.toString() ?? 'default').map(([name, some]) => [
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
      `pass_at means little at temperature ${temperature}: the samples of an item are nearly the same, so pass@k is about pass@1`,
    )
  if (missing + unscored > 0)
    warnings.push(
      `${missing + unscored} of ${n} samples have no score; mean_score leaves them out, mean_score_failures_wrong counts them as 0`,
    )
  return warnings
}

function countByName(names: string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, some]) => [name, some.length]))
}
