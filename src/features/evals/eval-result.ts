/** Aggregates the samples of an eval into its result: statistics overall and by task, category and difficulty. */
import type { EvalResult, EvalStatistics, FrontierResult } from '@reasoning-gym-server/contract/eval'
import { meanOrNull } from '../../grading/statistics.ts'
import { countFailures } from './sample-failures.ts'
import { listFailureCauses, type SampleVerdict } from './sample-output.ts'
import { computeLift } from './statistics/lift.ts'
import { type Estimate, meanAcrossTasks, stratifiedMean } from './statistics/means.ts'
import { computeRepeatedSamples, type ScoredSample } from './statistics/repeated-samples.ts'

/** Lowest score that counts as correct: some tasks give almost full marks for an answer in another notation. */
export const CORRECT_MIN_SCORE = 0.99
/** Temperature below which the samples of an item are nearly identical. */
const LOW_TEMPERATURE = 0.3

export interface SampledItem {
  task: string
  category: string
  difficulty: number | null
  /** Mean score of guessing, or undefined if it was not measured. */
  guessFloor: number | undefined
  /** Verdicts, one per sample, with null for a missing one. */
  verdicts: (SampleVerdict | null)[]
}

function computeStatistics(items: SampledItem[]): EvalStatistics {
  const verdicts = items.flatMap((item) => item.verdicts)
  const received = verdicts.filter((verdict) => verdict !== null)
  const scored = received.filter((verdict) => verdict.score !== null)
  const formatErrors = scored.flatMap(({ fault }) => fault ?? [])
  const fractionOfScored = (count: number) => (scored.length === 0 ? null : count / scored.length)
  const sum = scored.reduce((total, { score }) => total + (score ?? 0), 0)
  return {
    ...computeMeans(items),
    mean_score_failures_wrong: verdicts.length === 0 ? null : sum / verdicts.length,
    ...computeRates(items),
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

function computeMeans(items: SampledItem[]) {
  const tasks = groupScoresByTask(items, (score) => score)
  const correct = stratifiedMean(groupScoresByTask(items, (score) => Number(score >= CORRECT_MIN_SCORE)))
  const estimate = stratifiedMean(tasks)
  const floors = items.flatMap(({ guessFloor, verdicts }) => verdicts.filter(hasScore).map(() => guessFloor))
  return {
    mean_score: estimate?.mean ?? null,
    stderr: estimate?.stderr ?? null,
    confidence_95: estimate?.confidence_95 ?? null,
    ...computeLift(
      estimate,
      floors.map((floor) => floor ?? 0),
    ),
    guess_floor_unknown: floors.filter((floor) => floor === undefined).length,
    other_tasks: toErrors(meanAcrossTasks(tasks.map((scores) => scores.flat()))),
    accuracy: correct?.mean ?? null,
    accuracy_confidence_95: correct?.confidence_95 ?? null,
  }
}

function hasScore(verdict: SampleVerdict | null): boolean {
  return verdict !== null && verdict.score !== null
}

function groupScoresByTask(items: SampledItem[], value: (score: number) => number): number[][][] {
  const tasks = [...Map.groupBy(items, ({ task }) => task).values()]
  return tasks.map((some) => some.map(({ verdicts }) => verdicts.flatMap((verdict) => verdict?.score ?? []).map(value)))
}

function toErrors(estimate: Estimate | undefined): EvalStatistics['other_tasks'] {
  if (!estimate || estimate.stderr === null) return null
  return { stderr: estimate.stderr, confidence_95: estimate.confidence_95 }
}

function computeRates(items: SampledItem[]) {
  const rates = computeRepeatedSamples(items.map(({ verdicts }) => verdicts.flatMap(toScoredSample)))
  return {
    pass_at: rates.pass_at.mean,
    pass_at_stderr: rates.pass_at.stderr,
    pass_all: rates.pass_all.mean,
    pass_all_stderr: rates.pass_all.stderr,
    majority_at: rates.majority_at.mean,
    majority_at_stderr: rates.majority_at.stderr,
    repeated_items: rates.items,
  }
}

function toScoredSample(verdict: SampleVerdict | null): ScoredSample[] {
  if (!verdict || verdict.score === null) return []
  return [{ correct: verdict.score >= CORRECT_MIN_SCORE, answer: verdict.answer }]
}

interface EvalFacts {
  temperature: number | null
  samplesPerItem: number
  frontier: FrontierResult | null
  repeat: object
}

export function buildEvalResult(
  items: SampledItem[],
  { temperature, samplesPerItem, frontier, repeat }: EvalFacts,
): EvalResult {
  const groupBy = (key: (item: SampledItem) => string) =>
    [...Map.groupBy(items, key)].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const causes = items.flatMap(({ verdicts }) =>
    verdicts.flatMap((verdict) => (verdict ? listFailureCauses(verdict) : [])),
  )
  const statistics = computeStatistics(items)
  return {
    ...statistics,
    warnings: buildWarnings(statistics, temperature, samplesPerItem),
    failures: countFailures(causes),
    categories: Object.fromEntries(
      groupBy(({ category }) => category).map(([name, some]) => [name, computeStatistics(some)]),
    ),
    tasks: Object.fromEntries(
      groupBy(({ task }) => task).map(([name, some]) => [
        name,
        { ...computeStatistics(some), category: some[0]?.category ?? '' },
      ]),
    ),
    // A frontier eval has as many of these as its tasks have rungs, with a few items each.
    difficulties: frontier
      ? {}
      : Object.fromEntries(
          groupBy(({ difficulty }) => difficulty?.toString() ?? 'default').map(([name, some]) => [
            name,
            computeStatistics(some),
          ]),
        ),
    frontier,
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
