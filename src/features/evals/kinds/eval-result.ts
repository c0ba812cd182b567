/** Aggregates the samples of an eval into its result: statistics overall and by task, category and difficulty. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EvalResult, EvalStatistics, FrontierResult, TwinResult } from '@reasoning-gym-server/contract/eval'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import { isCorrect } from '@reasoning-gym-server/contract/verdict'
import pMap from 'p-map'
import { isCutOff } from '../../../grading/finish-reason.ts'
import { meanOrNull } from '../../../grading/statistics.ts'
import { memoizeByIdentity } from '../../../platform/shared-results.ts'
import { hashQuestion } from '../../items/eval-questions.ts'
import { type EvalParts, findGuessFloor, type SampledItem } from '../job-items.ts'
import type { EvalSpec, JobOfKind } from '../records.ts'
import { countFailures } from '../samples/failure-reasons.ts'
import { listFailureCauses, type StoredSampleVerdict } from '../samples/output.ts'
import { streamVerdicts } from '../samples/stream.ts'
import { type Estimate, estimateLift, meanAcrossTasks, stratifiedMean } from '../statistics/means.ts'
import { NO_DIFFERENCE, stratifiedDifference } from '../statistics/paired-differences.ts'
import { computeMajorityRates, computeRepeatedSamples, type ScoredSample } from '../statistics/repeated-samples.ts'
import { computeSuiteHash, ITEM_CONCURRENCY, type SuiteItem, type Suites } from '../suites.ts'
import { buildFrontierResult } from './frontier.ts'

/** Temperature below which the samples of an item are nearly identical. */
const LOW_TEMPERATURE = 0.3

/** Time for which the request that ends an eval waits while the items of its custom suite are recreated for the hash. */
const SUITE_HASH_TIMEOUT_MS = 4000

interface SampledEvalItem extends SampledItem {
  category: string
}

export async function aggregateEval(job: JobOfKind<'eval'>, deps: EvalParts): Promise<EvalResult> {
  const { openItems, samples, suites, tasks, cards } = deps
  const { spec } = job
  const { items, indexOf } = await openItems(job).list()
  const sampled = items.map(({ id }): SampledEvalItem => {
    const { task, difficulty } = decodeItemId(id)
    const { category } = tasks.require(task)
    return { id, task, difficulty, category, guessFloor: findGuessFloor(cards, id, spec), verdicts: [] }
  })
  for await (const [sample, verdict] of streamVerdicts(samples, job)) {
    const index = indexOf(sample)
    sampled[index]?.verdicts.push(verdict)
    const item = items[index]
    if (item && verdict?.question_hash) item.questionHash = verdict.question_hash
  }
  for (const { verdicts } of sampled) {
    computeMajorityRates(listScoredSamples(verdicts))
    await nextTurn() // an item of 256 samples takes 20 ms, and an eval may have 781 of them
  }
  const isComplete = job.status === 'done'
  const sha256 = spec.suite.sha256 ?? (isComplete ? await hashSuite(items, suites) : null)
  const [ofSuite, twins] = [sampled.slice(0, spec.twin ? spec.suite.items : undefined), sampled.slice(spec.suite.items)]
  return buildEvalResult(ofSuite, {
    temperature: spec.model && spec.temperature,
    samplesPerItem: spec.samples_per_item,
    frontier: spec.frontier ? buildFrontierResult(spec.frontier, sampled) : null,
    twin: spec.twin ? compareTwins(ofSuite, twins) : null,
    repeat: buildRepeat(spec, sha256),
  })
}

/** Returns null if some items cannot be created within the timeout. */
async function hashSuite(items: SuiteItem[], suites: Pick<Suites, 'getOrCreateItem'>): Promise<string | null> {
  const hashItem = async ({ id, questionHash }: SuiteItem) => ({
    id,
    questionHash: questionHash ?? hashQuestion((await suites.getOrCreateItem({ id, questionHash })).question),
  })
  const signal = AbortSignal.timeout(SUITE_HASH_TIMEOUT_MS)
  try {
    return computeSuiteHash(await pMap(items, hashItem, { concurrency: ITEM_CONCURRENCY, signal }))
  } catch {
    return null
  }
}

function buildRepeat(
  { suite, twin, frontier, engine, server, model, samples_per_item, tries, grading_rules, prompt }: EvalSpec,
  sha256: string | null,
) {
  return {
    suite: { ...suite, sha256 },
    ...(twin && { twin }),
    ...(frontier && { frontier }),
    engine: { library: 'reasoning-gym', version: engine },
    server,
    model: model && { name: model.name, base_url: model.base_url },
    sampling: { ...model?.params, samples_per_item },
    ...(tries && { tries }),
    ...grading_rules,
    ...prompt,
  }
}

function computeStatistics(items: SampledEvalItem[]): EvalStatistics {
  const verdicts = items.flatMap((item) => item.verdicts)
  const received = verdicts.filter((verdict) => verdict !== null)
  const scored = received.filter((verdict) => verdict.score !== null)
  const formatFaults = scored.flatMap(({ fault }) => fault ?? [])
  const lengths = received.flatMap(({ length_tokens }) => length_tokens ?? [])
  const fractionOfScored = (count: number) => (scored.length === 0 ? null : count / scored.length)
  const sum = scored.reduce((total, { score }) => total + (score ?? 0), 0)
  return {
    ...computeMeans(items),
    mean_score_failures_wrong: verdicts.length === 0 ? null : sum / verdicts.length,
    ...computeRates(items),
    format_faults: fractionOfScored(formatFaults.length),
    faults: Object.fromEntries(
      [...Map.groupBy(formatFaults, (name) => name)].map(([name, some]) => [name, some.length]),
    ),
    n: verdicts.length,
    items: items.length,
    scored: scored.length,
    unscored: received.length - scored.length,
    missing: verdicts.length - received.length,
    truncated: received.filter(({ finish_reason }) => isCutOff(finish_reason)).length,
    mean_tokens: meanOrNull(lengths),
    total_tokens: lengths.length === 0 ? null : lengths.reduce((total, length) => total + length, 0),
    ...(scored.some(({ first_score }) => first_score !== undefined) && { recovery: computeRecovery(items) }),
  }
}

function computeMeans(items: SampledEvalItem[]) {
  const tasks = groupScoresByTask(items, (score) => score)
  const correct = stratifiedMean(groupScoresByTask(items, (score) => Number(isCorrect(score))))
  const estimate = stratifiedMean(tasks)
  const floors = items.flatMap(({ guessFloor, verdicts }) =>
    verdicts.filter((verdict) => verdict !== null && verdict.score !== null).map(() => guessFloor),
  )
  return {
    mean_score: estimate?.mean ?? null,
    stderr: estimate?.stderr ?? null,
    confidence_95: estimate?.confidence_95 ?? null,
    ...estimateLift(
      estimate,
      floors.map((floor) => floor ?? 0),
    ),
    guess_floor_unknown: floors.filter((floor) => floor === undefined).length,
    other_tasks: toErrors(meanAcrossTasks(tasks.map((scores) => scores.flat()))),
    accuracy: correct?.mean ?? null,
    accuracy_confidence_95: correct?.confidence_95 ?? null,
  }
}

/** A sample is recovered if its first try is wrong and its last one right. Samples of an item are one cluster. */
function computeRecovery(items: SampledEvalItem[]): NonNullable<EvalStatistics['recovery']> {
  const tasks = [...Map.groupBy(items, ({ task }) => task).values()].map((some) =>
    some.map(({ verdicts }) => verdicts.filter((verdict) => verdict !== null && verdict.score !== null)),
  )
  const first = stratifiedMean(
    tasks.map((some) => some.map((list) => list.map((v) => Number(isRight(v?.first_score))))),
  )
  const wrong = tasks.map((some) => some.map((list) => list.filter((verdict) => !isRight(verdict?.first_score))))
  const rate = stratifiedMean(wrong.map((some) => some.map((list) => list.map((v) => Number(isRight(v?.score))))))
  return {
    first_try_accuracy: first?.mean ?? null,
    rate: rate?.mean ?? null,
    confidence_95: rate?.confidence_95 ?? null,
    wrong_at_first: wrong.flat(2).length,
  }
}

function isRight(score: number | null | undefined): boolean {
  return isCorrect(score ?? 0)
}

function groupScoresByTask(items: SampledEvalItem[], value: (score: number) => number): number[][][] {
  const tasks = [...Map.groupBy(items, ({ task }) => task).values()]
  return tasks.map((some) => some.map(({ verdicts }) => verdicts.flatMap((verdict) => verdict?.score ?? []).map(value)))
}

function toErrors(estimate: Estimate | undefined): EvalStatistics['other_tasks'] {
  if (!estimate || estimate.stderr === null) return null
  return { stderr: estimate.stderr, confidence_95: estimate.confidence_95 }
}

function computeRates(items: SampledEvalItem[]) {
  const rates = computeRepeatedSamples(items.map(({ verdicts }) => listScoredSamples(verdicts)))
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

/** Compares each item with its twin: an honest model does better on either of them with the same probability. */
function compareTwins(ofSuite: SampledEvalItem[], twins: SampledEvalItem[]): TwinResult {
  const pairs = ofSuite.flatMap(({ task, verdicts }, k) => {
    const [mean, twinMean] = [verdicts, twins[k]?.verdicts ?? []].map((some) => meanOrNull(listScores(some)))
    return typeof mean === 'number' && typeof twinMean === 'number'
      ? [{ task, scores: [mean, twinMean] as [number, number] }]
      : []
  })
  const byTask = [...Map.groupBy(pairs, ({ task }) => task)].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const strata = byTask.map(([, some]) => some.map(({ scores }) => scores))
  const { n, difference, stderr, confidence_95, p, smallest_detectable } = stratifiedDifference(strata) ?? NO_DIFFERENCE
  const isShown = p !== null && p < 0.05 && (difference ?? 0) > 0
  return {
    n,
    mean_score: meanOrNull(pairs.map(({ scores: [, twin] }) => twin)),
    accuracy: meanOrNull(
      twins.flatMap(({ verdicts }) => listScores(verdicts)).map((score) => Number(isCorrect(score))),
    ),
    difference,
    stderr,
    confidence_95,
    p,
    smallest_detectable,
    verdict: p === null ? 'too_few_items' : isShown ? 'memory_shown' : 'no_memory_shown',
    tasks: Object.fromEntries(
      byTask.map(([task, some]) => [task, meanOrNull(some.map(({ scores: [a, b] }) => a - b)) ?? 0]),
    ),
  }
}

function listScores(verdicts: SampledEvalItem['verdicts']): number[] {
  return verdicts.flatMap((verdict) => verdict?.score ?? [])
}

const listScoredSamples = memoizeByIdentity((verdicts: SampledEvalItem['verdicts']) => verdicts.flatMap(toScoredSample))

function toScoredSample(verdict: StoredSampleVerdict | null): ScoredSample[] {
  if (!verdict || verdict.score === null) return []
  return [{ correct: isCorrect(verdict.score), answer: verdict.answer }]
}

interface EvalFacts {
  temperature: number | null
  samplesPerItem: number
  frontier: FrontierResult | null
  twin: TwinResult | null
  repeat: object
}

function buildEvalResult(
  items: SampledEvalItem[],
  { temperature, samplesPerItem, frontier, twin, repeat }: EvalFacts,
): EvalResult {
  const groupBy = (key: (item: SampledEvalItem) => string) =>
    [...Map.groupBy(items, key)].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const causes = items.flatMap(({ verdicts }) =>
    verdicts.flatMap((verdict) => (verdict ? listFailureCauses(verdict) : [])),
  )
  const statistics = computeStatistics(items)
  return {
    ...statistics,
    warnings: [...buildWarnings(statistics, temperature, samplesPerItem), ...warnOfOmissions(items)],
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
    twin,
    repeat: { ...repeat },
  }
}

/** Says how many completions are not stored, if any. */
function warnOfOmissions(items: readonly SampledItem[]): string[] {
  const omitted = items.flatMap(({ verdicts }) => verdicts.filter((verdict) => verdict?.completion_omitted)).length
  return omitted === 0
    ? []
    : [`${omitted} completions are scored but not kept: they were too large, or EVAL_OUTPUTS_MAX_BYTES was reached`]
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
