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
    'Tasks that the items of a duel come from. The task of each item is drawn at random, all with equal probability',
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
      .describe('The duel ends with `no_difference_found` if no model has won after this many items'),
    alpha: z
      .number()
      .min(0.0001)
      .max(0.5)
      .default(0.05)
      .describe('Upper limit of the probability of naming a winner when both models are equally good'),
    smallest_difference: z
      .number()
      .min(0)
      .max(0.5)
      .default(0.05)
      .describe(
        'The duel also ends once the difference of the mean scores is shown to be smaller than this. 0: it does not end for that',
      ),
    ...GenerationParamFields,
    ...GradingFields,
    concurrency: z
      .int()
      .min(1)
      .max(256)
      .default(16)
      .describe('Maximum number of requests in flight, to both models together'),
    run: RunName.optional().describe('Run whose prompt and grading rules apply where the request sets none'),
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
        '`winner`: one model is shown to be better; `equivalence`: the difference is shown to be smaller than `smallest_difference`; `max_items`: neither was shown; `interruption`: cancelled or failed; null: the duel is still active',
      ),
    ...DuelFields.shape,
    confidence_sequence: ConfidenceInterval.describe(
      'Interval that contains the true difference, with probability 1 − alpha at all moments of the duel at once: you may read it at any time. Null without items',
    ),
    e_value: z
      .number()
      .describe('Evidence against the hypothesis of no difference. A winner has an `e_value` of at least 1 / alpha'),
    p: z.number().describe('p-value that stays valid however often you look at it: 1 / the largest `e_value` so far'),
    skipped: Count.describe('Items without a score of both models, left out of the test'),
    failures: z.record(z.string(), Count).describe('Samples of the skipped items that have no score, by reason'),
    tasks: z
      .record(z.string(), DuelFields)
      .describe('Figures of each task, for information: the test is over all tasks together'),
    warnings: z.array(z.string()),
    repeat: z.looseObject({}).describe('Everything needed to repeat the duel'),
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
    progress: GenerationProgress.describe('In samples, two for each item. Most duels end before all are used'),
    detail: z.string().nullable().describe('Why it failed'),
    result: DuelResult.nullable().describe('Interim while the duel is active. In lists null until it has ended'),
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
