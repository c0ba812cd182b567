/** Two evals on one suite: what the paired differences of their items say. */
import { z } from 'zod'
import { ServiceError } from '../../contract/errors.ts'
import { decodeItemId } from '../../contract/item-id.ts'
import type { EvalAggregator } from './eval-aggregator.ts'
import { buildEvalView, type StoredEval } from './eval-view.ts'
import type { SampleRepository } from './sample-repository.ts'
import { holmCorrection, mean, pairedDifference } from './statistics.ts'
import { parseSuiteItem } from './suites.ts'

const NullableNumber = z.number().nullable()

const DifferenceFields = z.strictObject({
  n: z.int().min(0).describe('Items that have a score in both'),
  difference: NullableNumber.describe('Mean score of a less that of b, item by item'),
  stderr: NullableNumber,
  confidence_95: z.array(z.number()).length(2).nullable(),
  p: NullableNumber.describe('Two-sided, of there being no difference'),
  smallest_detectable: NullableNumber.describe(
    'The smallest true difference that would have shown, with a power of 80 %',
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
      p_corrected: NullableNumber.describe('By Holm, for looking at so many tasks'),
      significant: z.boolean().describe('Whether p_corrected is below 0.05'),
    }),
  ),
})
export type Comparison = z.infer<typeof Comparison>

const NO_DIFFERENCE = { n: 0, difference: null, stderr: null, confidence_95: null, p: null, smallest_detectable: null }

/** Throws `invalid_request` unless both have the same items. */
export async function computeComparison(
  a: StoredEval,
  b: StoredEval,
  { samples, evalAggregator }: { samples: SampleRepository; evalAggregator: EvalAggregator },
): Promise<Comparison> {
  const [items, others] = (await Promise.all([samples.listItems(a.id), samples.listItems(b.id)])).map((lines) =>
    lines.map((line) => parseSuiteItem(line).id),
  )
  if (!items?.length || !others?.length)
    throw new ServiceError('unknown_eval', 'The samples of these evals are no longer kept; their results are')
  if (items.length !== others.length || items.some((id, k) => id !== others[k])) {
    throw new ServiceError(
      'invalid_request',
      'The evals are of different suites: only scores on the same items can be paired',
    )
  }
  const [ofA, ofB] = await Promise.all([
    meanScoresByItem(a, items.length, evalAggregator),
    meanScoresByItem(b, items.length, evalAggregator),
  ])
  const pairs = items.flatMap((id, k) => {
    const [x, y] = [ofA[k] ?? null, ofB[k] ?? null]
    return x === null || y === null ? [] : [{ task: decodeItemId(id).task, pair: [x, y] as [number, number] }]
  })
  const tasks = [...Map.groupBy(pairs, ({ task }) => task)]
    .map(([task, some]) => ({ task, found: pairedDifference(some.map(({ pair }) => pair)) ?? NO_DIFFERENCE }))
    .toSorted((x, y) => (x.task < y.task ? -1 : 1))
  const tested = tasks.filter(({ found }) => found.p !== null)
  const corrected = new Map(holmCorrection(tested.map(({ found }) => found.p ?? 1)).map((p, k) => [tested[k]?.task, p]))
  const { suite } = buildEvalView(a)
  return {
    a: { id: a.id, mean_score: mean(pairs.map(({ pair }) => pair[0])) },
    b: { id: b.id, mean_score: mean(pairs.map(({ pair }) => pair[1])) },
    suite,
    ...(pairedDifference(pairs.map(({ pair }) => pair)) ?? NO_DIFFERENCE),
    tasks: Object.fromEntries(
      tasks.map(({ task, found }) => {
        const p_corrected = corrected.get(task) ?? null
        return [task, { ...found, p_corrected, significant: p_corrected !== null && p_corrected < 0.05 }]
      }),
    ),
  }
}

/** The mean score of each item; null for one without a score. */
async function meanScoresByItem(
  { id, spec, total }: StoredEval,
  items: number,
  evalAggregator: EvalAggregator,
): Promise<(number | null)[]> {
  const scores: number[][] = Array.from({ length: items }, () => [])
  for await (const [sample, verdict] of evalAggregator.streamVerdicts(id, total)) {
    if (verdict?.score !== null && verdict !== null)
      scores[Math.floor(sample / spec.samples_per_item)]?.push(verdict.score)
  }
  return scores.map(mean)
}
