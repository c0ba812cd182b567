/** The comparison of two evals on the same items, and the items whose result differs. */
import { z } from 'zod'
import { EvalSuite, EvalSummary } from './eval.ts'
import { SampleId } from './eval-sample.ts'
import { ItemId } from './item-id.ts'
import { Difficulty } from './recipe.ts'

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

export const EvalComparison = z
  .strictObject({
    a: ComparedEval.describe('First eval.'),
    b: ComparedEval.describe('Second eval.'),
    suite: EvalSuite.describe('Suite of both evals.'),
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
export type EvalComparison = z.infer<typeof EvalComparison>

const RightIn = z
  .enum(['a', 'b'])
  .describe(
    'The eval in which more than half of the scored samples of the item are correct (a score of at least 0.99).',
  )

export const FlippedSide = z
  .strictObject({
    sample_id: SampleId.describe('First sample with this result.'),
    score: z.number().describe('Mean score of the item’s samples.'),
    samples: z.int().min(1).describe('Number of scored samples of the item.'),
    answer: z.string().nullable().describe('Answer extracted from that sample; null if there is none.'),
  })
  .meta({ id: 'FlippedSide', description: 'Result of an item in one of two evals.' })
export type FlippedSide = z.infer<typeof FlippedSide>

export const FlippedItem = z
  .strictObject({
    item_id: ItemId,
    task: z.string().describe('Name of the task.'),
    difficulty: Difficulty.nullable().describe('Difficulty of the item; null for library defaults or a config.'),
    right_in: RightIn,
    a: FlippedSide.describe('Result in the first eval.'),
    b: FlippedSide.describe('Result in the second eval.'),
  })
  .meta({ id: 'FlippedItem', description: 'An item that one eval has right and the other wrong.' })
export type FlippedItem = z.infer<typeof FlippedItem>
