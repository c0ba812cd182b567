/** Two models that answer the same items until it is clear which one is better. */
import { z } from 'zod'
import {
  ConfidenceInterval,
  CustomSuite,
  EvalLabels,
  GenerationJobStatus,
  GenerationParamFields,
  GenerationProgress,
  GradingFields,
  ModelInput,
} from './eval.ts'
import { ItemId } from './item-id.ts'
import { NOT_FOUND_CODES } from './problem.ts'
import { RunName } from './rollout.ts'

export const DuelId = z
  .string()
  .regex(/^duel-[0-9a-f]{12,32}$/, 'an ID as POST /duels returned it')
  .register(NOT_FOUND_CODES, { code: 'unknown_duel' })

export const DuelSuite = CustomSuite.omit({ n: true }).meta({
  id: 'DuelSuite',
  description:
    'Tasks that the items of a duel are drawn from. Each item’s task is drawn anew, all with equal probability',
})
export type DuelSuite = z.infer<typeof DuelSuite>

export const DuelInput = z
  .strictObject({
    a: ModelInput,
    b: ModelInput,
    suite: DuelSuite.prefault({}),
    max_items: z
      .int()
      .min(10)
      .max(5000)
      .default(1000)
      .describe('Without a winner after so many items, the duel ends with `no_difference_found`'),
    alpha: z
      .number()
      .min(0.0001)
      .max(0.5)
      .default(0.05)
      .describe('Probability at most of naming a winner of two models that are equally good'),
    smallest_difference: z
      .number()
      .min(0)
      .max(1)
      .default(0.05)
      .describe('The duel also ends once the difference of the mean scores is shown to be smaller than this'),
    ...GenerationParamFields,
    ...GradingFields,
    concurrency: z.int().min(1).max(256).default(16).describe('Requests in flight, at most, of both models together'),
    run: RunName.optional().describe('Whose prompt and rules apply where the request says nothing'),
    labels: EvalLabels.optional(),
  })
  .meta({ id: 'DuelInput' })
export type DuelInput = z.infer<typeof DuelInput>

const NullableNumber = z.number().nullable()
const Count = z.int().min(0)

const DuelSide = z.strictObject({
  mean_score: NullableNumber,
  lift: NullableNumber.describe('Floor-corrected mean score: 0 for guessing, 1 for full marks'),
})

const DuelFields = z.strictObject({
  items: Count.describe('Items with a score of both models'),
  a: DuelSide,
  b: DuelSide,
  difference: NullableNumber.describe('Mean score of a minus that of b'),
})

export const DuelResult = z
  .strictObject({
    verdict: z.enum(['a_better', 'b_better', 'no_difference_found']),
    ended_by: z
      .enum(['winner', 'equivalence', 'max_items', 'interruption'])
      .nullable()
      .describe(
        'equivalence: the difference is smaller than smallest_difference; interruption: cancelled or failed; null: the duel is still active',
      ),
    ...DuelFields.shape,
    confidence_sequence: ConfidenceInterval.describe(
      'Holds the true difference with probability 1 − alpha at every moment of the duel, so that it may end at any. Null without items',
    ),
    e_value: z
      .number()
      .describe('Evidence against the hypothesis of no difference. A winner is named from about 1/alpha on'),
    p: z.number().describe('p-value that holds however often it is looked at: 1 / the largest e_value so far'),
    skipped: Count.describe('Items without a score of both models, left out of the test'),
    failures: z.record(z.string(), Count).describe('Their samples without a score, by reason'),
    tasks: z.record(z.string(), DuelFields).describe('For information: the test is of all tasks together'),
    warnings: z.array(z.string()),
    repeat: z.looseObject({}).describe('All that is needed to do it again'),
  })
  .meta({ id: 'DuelResult' })
export type DuelResult = z.infer<typeof DuelResult>

const ModelPlace = z.strictObject({ name: z.string(), base_url: z.string() })

export const DuelView = z
  .strictObject({
    id: DuelId,
    status: GenerationJobStatus,
    a: ModelPlace,
    b: ModelPlace,
    tasks: Count,
    max_items: Count,
    alpha: z.number(),
    smallest_difference: z.number(),
    run: z.string().nullable(),
    labels: EvalLabels,
    created_at: z.string(),
    started_at: z.string().nullable(),
    ended_at: z.string().nullable(),
    progress: GenerationProgress.describe('In samples, two for each item. A duel seldom needs all'),
    detail: z.string().nullable().describe('Why it failed'),
    result: DuelResult.nullable().describe('So far, while the duel is active. Null in lists until it has ended'),
  })
  .meta({ id: 'DuelView' })
export type DuelView = z.infer<typeof DuelView>

/** One item of a duel, as GET /duels/{id}/items writes it. */
export const DuelItem = z
  .strictObject({
    item_id: ItemId,
    task: z.string(),
    counted: z.boolean().describe('Whether the test used it: later items were in flight when the duel ended'),
    a: z.strictObject({ score: NullableNumber, answer: z.string().nullable(), completion: z.string().nullable() }),
    b: z.strictObject({ score: NullableNumber, answer: z.string().nullable(), completion: z.string().nullable() }),
  })
  .meta({ id: 'DuelItem' })
export type DuelItem = z.infer<typeof DuelItem>
