/** Compares two evals of one suite by the paired differences of their items. */

import { EvalSummary } from '@reasoning-gym-server/contract/eval'
import { z } from 'zod'
import { meanOrNull } from '../../grading/statistics.ts'
import type { TaskCards } from '../tasks/task-cards.ts'
import { findGuessFloor } from './eval-aggregator.ts'
import { type EvalPairingDeps, type ItemPair, pairItems } from './eval-pairing.ts'
import { buildEvalView } from './eval-view.ts'
import { countFlips } from './flipped-items.ts'
import type { JobOfKind } from './generation-job-record.ts'
import { computeLift } from './statistics/lift.ts'
import { holmCorrection, pairedDifference, stratifiedDifference } from './statistics/paired-differences.ts'

const NullableNumber = z.number().nullable()

const DifferenceFields = z.strictObject({
  n: z.int().min(0).describe('Number of items with a score in both evals.'),
  difference: NullableNumber.describe(
    'Mean over the items of the score in `a` minus the score in `b`; null if there are none.',
  ),
  stderr: NullableNumber.describe('Standard error of `difference`; null if unknown.'),
  confidence_95: z
    .array(z.number())
    .length(2)
    .nullable()
    .describe('95% interval of `difference`, within −1 and 1; null for fewer than six items.'),
  p: NullableNumber.describe(
    'Two-sided p-value of the hypothesis of no difference, by a sign-flip test; null for fewer than six items.',
  ),
  smallest_detectable: NullableNumber.describe(
    'Smallest true difference that this comparison detects with a power of 80%; null if unknown.',
  ),
  guess_floor: NullableNumber.describe('Mean guess floor of these items; null if the evals use different scoring.'),
  lift_difference: NullableNumber.describe('Difference of the lifts: difference / (1 − guess_floor).'),
  lift_difference_confidence_95: z
    .array(z.number())
    .length(2)
    .nullable()
    .describe('95% interval of `lift_difference`; null if unknown.'),
  only_a_right: z.int().min(0).describe('Number of items that only the first eval has right.'),
  only_b_right: z.int().min(0).describe('Number of items that only the second eval has right.'),
})

const ComparedEval = z
  .strictObject({
    ...EvalSummary.pick({ id: true, model: true, run: true, step: true, labels: true, created_at: true }).shape,
    mean_score: NullableNumber.describe(
      'Mean score over the items with a score in both evals; null if there are none.',
    ),
    lift: NullableNumber.describe(
      'Floor-corrected mean score over the items with a score in both evals; null if unknown.',
    ),
  })
  .meta({ id: 'ComparedEval', description: 'One of the two evals of a comparison.' })

export const Comparison = z
  .strictObject({
    a: ComparedEval.describe('First eval.'),
    b: ComparedEval.describe('Second eval.'),
    suite: z
      .strictObject({
        name: z.string().describe('Name of the suite.'),
        sha256: z.string().nullable().describe('Content hash of the suite; null until all its items are known.'),
        items: z.int().describe('Number of items.'),
      })
      .describe('Suite of both evals.'),
    ...DifferenceFields.shape,
    tasks: z
      .record(
        z.string(),
        z
          .strictObject({
            ...DifferenceFields.shape,
            p_corrected: NullableNumber.describe(
              'Value of `p` corrected for the number of tasks by Holm’s method; null if there is none.',
            ),
            significant: z.boolean().describe('Whether `p_corrected` is below 0.05.'),
            verdict: z
              .enum(['a_better', 'b_better', 'no_difference_shown', 'too_few_items'])
              .describe('Outcome for the task. `too_few_items`: fewer than six, which no test can distinguish.'),
          })
          .meta({ id: 'TaskComparison', description: 'Paired differences on the items of one task.' }),
      )
      .describe('Comparison by task.'),
  })
  .meta({ id: 'EvalComparison', description: 'Paired comparison of two evals, in total and by task.' })
export type Comparison = z.infer<typeof Comparison>

const NO_DIFFERENCE = { n: 0, difference: null, stderr: null, confidence_95: null, p: null, smallest_detectable: null }

/** An item pair with what the statistics need of it. */
interface ScoredPair {
  task: string
  scores: [a: number, b: number]
  /** Mean score of guessing under each eval's scoring; 0 where it was not measured. */
  floors: [a: number, b: number]
}

interface ComparisonDeps extends EvalPairingDeps {
  cards: TaskCards
}

/** Throws `invalid_request` unless both evals have the same items. */
export async function computeComparison(
  a: JobOfKind<'eval'>,
  b: JobOfKind<'eval'>,
  deps: ComparisonDeps,
): Promise<Comparison> {
  const items = await pairItems(a, b, deps)
  const pairs = items.map((pair) => toScoredPair(pair, [a, b], deps.cards))
  const flips = Map.groupBy(items, ({ task }) => task)
  const byTask = [...Map.groupBy(pairs, ({ task }) => task)].toSorted(([x], [y]) => (x < y ? -1 : 1))
  const tasks = byTask.map(([task, some]) => ({
    task,
    difference: pairedDifference(some.map(({ scores }) => scores)) ?? NO_DIFFERENCE,
    lift: compareLifts(a, b, some),
  }))
  const tested = tasks.filter(({ difference }) => difference.p !== null)
  const corrected = new Map(
    holmCorrection(tested.map(({ difference }) => difference.p ?? 1)).map((p, k) => [tested[k]?.task, p]),
  )
  const strata = byTask.map(([, some]) => some.map(({ scores }) => scores))
  return {
    a: { ...describeEval(a), ...summarize(pairs, 0) },
    b: { ...describeEval(b), ...summarize(pairs, 1) },
    suite: buildEvalView(a).suite,
    ...(stratifiedDifference(strata) ?? NO_DIFFERENCE),
    ...compareLifts(a, b, pairs),
    ...countFlips(items),
    tasks: Object.fromEntries(
      tasks.map(({ task, difference, lift }) => {
        const p_corrected = corrected.get(task) ?? null
        const significant = p_corrected !== null && p_corrected < 0.05
        return [
          task,
          {
            ...difference,
            ...lift,
            ...countFlips(flips.get(task) ?? []),
            p_corrected,
            significant,
            verdict: getVerdict(difference, significant),
          },
        ]
      }),
    ),
  }
}

function describeEval(job: JobOfKind<'eval'>) {
  const { id, model, run, step, labels, created_at } = buildEvalView(job)
  return { id, model, run, step, labels, created_at }
}

function toScoredPair(
  { item_id, task, a, b }: ItemPair,
  [jobA, jobB]: [JobOfKind<'eval'>, JobOfKind<'eval'>],
  cards: TaskCards,
): ScoredPair {
  const findFloor = ({ spec }: JobOfKind<'eval'>) => findGuessFloor(cards, item_id, spec) ?? 0
  return { task, scores: [a.mean, b.mean], floors: [findFloor(jobA), findFloor(jobB)] }
}

function summarize(pairs: readonly ScoredPair[], side: 0 | 1): { mean_score: number | null; lift: number | null } {
  const mean = meanOrNull(pairs.map(({ scores }) => scores[side]))
  const floors = pairs.map(({ floors }) => floors[side])
  const estimate = mean === null ? null : { mean, stderr: null, confidence_95: null }
  return { mean_score: mean, lift: computeLift(estimate, floors).lift }
}

/**
 * Returns no lifts if the scoring differs: without a common floor, a difference of lifts says nothing about the models.
 */
function compareLifts(a: JobOfKind<'eval'>, b: JobOfKind<'eval'>, pairs: readonly ScoredPair[]) {
  const isComparable = a.spec.grading_rules.scoring === b.spec.grading_rules.scoring
  const guess_floor = isComparable ? meanOrNull(pairs.map(({ floors }) => floors[0])) : null
  const paired = stratifiedDifference(
    [...Map.groupBy(pairs, ({ task }) => task).values()].map((some) => some.map(({ scores }) => scores)),
  )
  if (guess_floor === null || guess_floor >= 1 || !paired)
    return { guess_floor, lift_difference: null, lift_difference_confidence_95: null }
  const stretch = 1 / (1 - guess_floor)
  return {
    guess_floor,
    lift_difference: paired.difference * stretch,
    lift_difference_confidence_95: paired.confidence_95?.map((bound) => bound * stretch) ?? null,
  }
}

function getVerdict({ p, difference }: { p: number | null; difference: number | null }, significant: boolean) {
  if (p === null) return 'too_few_items'
  if (!significant) return 'no_difference_shown'
  return (difference ?? 0) > 0 ? 'a_better' : 'b_better'
}
