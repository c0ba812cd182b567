/** Compares two evals on one suite by the paired differences of their items. */
import { z } from 'zod'
import { ServiceError } from '../../contract/errors.ts'
import { decodeItemId } from '../../contract/item-id.ts'
import { meanOrNull } from '../../grading/statistics.ts'
import type { EvalAggregator } from './eval-aggregator.ts'
import { buildEvalView } from './eval-view.ts'
import type { JobOfKind } from './generation-job-record.ts'
import { itemIndexOfSample } from './generation-job-spec.ts'
import type { SampleRepository } from './sample-repository.ts'
import { holmCorrection, pairedDifference, stratifiedDifference } from './statistics/paired-differences.ts'
import { parseSuiteItem } from './suites.ts'

const NullableNumber = z.number().nullable()

const DifferenceFields = z.strictObject({
  n: z.int().min(0).describe('Items with a score in both evals'),
  difference: NullableNumber.describe('Mean over the items of the score in a minus the score in b'),
  stderr: NullableNumber,
  confidence_95: z.array(z.number()).length(2).nullable(),
  p: NullableNumber.describe(
    'Two-sided p-value of the hypothesis that there is no difference, by a sign-flip test; null for fewer than six items',
  ),
  smallest_detectable: NullableNumber.describe(
    'Smallest true difference that this comparison detects with a power of 80 %',
  ),
})

export const Comparison = z.strictObject({
  a: z.strictObject({ id: z.string(), mean_score: NullableNumber }),
  b: z.strictObject({ id: z.string(), mean_score: NullableNumber }),
  suite: z.strictObject({ name: z.string(), sha256: z.string().nullable(), items: z.int() }),
  ...DifferenceFields.shape,
  tasks: z.record(
    z.string(),
    z.strictObject({
      ...DifferenceFields.shape,
      p_corrected: NullableNumber.describe('Corrected for the number of tasks by Holm’s method'),
      significant: z.boolean().describe('Whether p_corrected is below 0.05'),
      verdict: z
        .enum(['a_better', 'b_better', 'no_difference_shown', 'too_few_items'])
        .describe('`too_few_items`: fewer than six, which no test can tell apart'),
    }),
  ),
})
export type Comparison = z.infer<typeof Comparison>

const NO_DIFFERENCE = { n: 0, difference: null, stderr: null, confidence_95: null, p: null, smallest_detectable: null }

/** Throws `invalid_request` unless both evals have the same items. */
export async function computeComparison(
  a: JobOfKind<'eval'>,
  b: JobOfKind<'eval'>,
  { samples, aggregator }: { samples: SampleRepository; aggregator: EvalAggregator },
): Promise<Comparison> {
  const [items, others] = (await Promise.all([samples.listItems(a.id), samples.listItems(b.id)])).map((lines) =>
    lines.map((line) => parseSuiteItem(line).id),
  )
  if (!items?.length || !others?.length)
    throw new ServiceError('unknown_eval', 'The samples of these evals have expired; only their results are kept')
  if (items.length !== others.length || items.some((id, k) => id !== others[k])) {
    throw new ServiceError(
      'invalid_request',
      'The evals use different suites; only scores on the same items can be compared',
    )
  }
  const [scoresA, scoresB] = await Promise.all([
    meanScoresByItem(a, items.length, aggregator),
    meanScoresByItem(b, items.length, aggregator),
  ])
  const pairs = items.flatMap((id, k) => {
    const [x, y] = [scoresA[k] ?? null, scoresB[k] ?? null]
    return x === null || y === null ? [] : [{ task: decodeItemId(id).task, pair: [x, y] as [number, number] }]
  })
  const byTask = Map.groupBy(pairs, ({ task }) => task)
  const strata = [...byTask.values()].map((some) => some.map(({ pair }) => pair))
  const tasks = [...byTask]
    .map(([task, some]) => ({ task, difference: pairedDifference(some.map(({ pair }) => pair)) ?? NO_DIFFERENCE }))
    .toSorted((x, y) => (x.task < y.task ? -1 : 1))
  const tested = tasks.filter(({ difference }) => difference.p !== null)
  const corrected = new Map(
    holmCorrection(tested.map(({ difference }) => difference.p ?? 1)).map((p, k) => [tested[k]?.task, p]),
  )
  const { suite } = buildEvalView(a)
  return {
    a: { id: a.id, mean_score: meanOrNull(pairs.map(({ pair }) => pair[0])) },
    b: { id: b.id, mean_score: meanOrNull(pairs.map(({ pair }) => pair[1])) },
    suite,
    ...(stratifiedDifference(strata) ?? NO_DIFFERENCE),
    tasks: Object.fromEntries(
      tasks.map(({ task, difference }) => {
        const p_corrected = corrected.get(task) ?? null
        const significant = p_corrected !== null && p_corrected < 0.05
        return [task, { ...difference, p_corrected, significant, verdict: getVerdict(difference, significant) }]
      }),
    ),
  }
}

function getVerdict({ p, difference }: { p: number | null; difference: number | null }, significant: boolean) {
  if (p === null) return 'too_few_items'
  if (!significant) return 'no_difference_shown'
  return (difference ?? 0) > 0 ? 'a_better' : 'b_better'
}

/** In the order of the items; null for an item without a score. */
async function meanScoresByItem(
  job: JobOfKind<'eval'>,
  items: number,
  aggregator: EvalAggregator,
): Promise<(number | null)[]> {
  const scores: number[][] = Array.from({ length: items }, () => [])
  for await (const [sample, verdict] of aggregator.streamVerdicts(job)) {
    if (verdict !== null && verdict.score !== null) scores[itemIndexOfSample(job.spec, sample)]?.push(verdict.score)
  }
  return scores.map(meanOrNull)
}
