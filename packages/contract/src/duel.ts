/** A duel: two models answer the same items until it is clear which one is better. */
import { z } from 'zod'
import { Count, JsonObject, NullableNumber, NullableText } from './common.ts'
import { NOT_FOUND_CODES } from './errors.ts'
import {
  ConfidenceInterval,
  EvalLabels,
  GenerationJobStatus,
  GenerationParamFields,
  GenerationProgress,
  GradingFields,
  JobFailure,
  JobTimes,
  ModelInput,
  ModelLocation,
  SampleFailures,
} from './generation-job.ts'
import { ItemId } from './item-id.ts'
import { RunName } from './rollout.ts'
import { CustomSuite } from './suite.ts'

export const DuelId = z
  .string()
  .regex(/^duel-[0-9a-f]{12,32}$/, 'must be an ID that POST /duels returned')
  .meta({ id: 'DuelId', description: 'ID of a duel.', examples: ['duel-0123456789abcdef0123'] })
  .register(NOT_FOUND_CODES, { code: 'unknown_duel', kind: 'duel' }) // last: every other method returns a copy that is not registered

export const DuelSuite = CustomSuite.omit({ n: true }).meta({
  id: 'DuelSuite',
  description: 'Tasks of a duel. The task of each item is drawn at random, all with equal probability.',
})
export type DuelSuite = z.infer<typeof DuelSuite>

export const DuelInput = z
  .strictObject({
    a: ModelInput.describe('First model.'),
    b: ModelInput.describe('Second model.'),
    suite: DuelSuite.prefault({}),
    max_items: z
      .int()
      .min(10)
      .max(5000)
      .default(1000)
      .describe('Maximum number of items. If neither model has won by then, the verdict is `no_difference_found`.'),
    alpha: z
      .number()
      .min(0.0001)
      .max(0.5)
      .default(0.05)
      .describe('Maximum probability of naming a winner although both models are equally good.'),
    smallest_difference: z
      .number()
      .min(0)
      .max(0.5)
      .default(0.05)
      .describe(
        'Smallest difference of the mean scores that matters. The duel ends early once the difference is shown to be smaller; 0 turns this off.',
      ),
    ...GenerationParamFields,
    ...GradingFields,
    concurrency: z
      .int()
      .min(1)
      .max(256)
      .default(16)
      .describe('Maximum number of requests in flight, for both models together.'),
    run: RunName.optional().describe('Run whose prompt and grading rules apply where the request sets none.'),
    labels: EvalLabels.optional(),
  })
  .meta({ id: 'DuelInput', description: 'Request to compare two models on the same items.' })
export type DuelInput = z.infer<typeof DuelInput>

const DuelSide = z
  .strictObject({
    mean_score: NullableNumber.describe('Mean score; null if there is none.'),
    lift: NullableNumber.describe('Floor-corrected mean score: 0 for guessing, 1 if all answers are correct.'),
  })
  .meta({ id: 'DuelModelScores', description: 'Scores of one model of a duel.' })

const DuelFields = z
  .strictObject({
    items: Count.describe('Number of items with a score for both models.'),
    a: DuelSide.describe('Scores of the first model.'),
    b: DuelSide.describe('Scores of the second model.'),
    difference: NullableNumber.describe('Mean score of `a` minus that of `b`; null if there is none.'),
  })
  .meta({ id: 'DuelScores', description: 'Scores of both models of a duel on the same items.' })

export const DuelResult = z
  .strictObject({
    verdict: z.enum(['a_better', 'b_better', 'no_difference_found']).describe('Outcome of the duel so far.'),
    ended_by: z
      .enum(['winner', 'equivalence', 'max_items', 'interruption'])
      .nullable()
      .describe(
        'Why the duel ended. `winner`: one model is shown to be better; `equivalence`: the difference is shown to be smaller than `smallest_difference`; `max_items`: neither was shown; `interruption`: the duel was cancelled or failed; null: it is still active.',
      ),
    ...DuelFields.shape,
    confidence_sequence: ConfidenceInterval.describe(
      'Interval that contains the true difference with probability 1 − `alpha` at all times of the duel simultaneously, so you can read it at any time. null without items.',
    ),
    e_value: z
      .number()
      .describe('Evidence against the hypothesis of no difference. A winner has an `e_value` of at least 1 / `alpha`.'),
    p: z.number().describe('Anytime-valid p-value: 1 divided by the largest `e_value` so far.'),
    skipped: Count.describe('Number of items that lack a score of one or both models and are left out of the test.'),
    failures: SampleFailures.describe('Samples of skipped items without a score by reason, most frequent first.'),
    tasks: z
      .record(z.string(), DuelFields)
      .describe('Scores by task, for information only: the test covers all tasks together.'),
    warnings: z.array(z.string()).describe('Reasons to read the result with care, each a sentence.'),
    repeat: JsonObject.describe('Everything that is needed to repeat the duel.'),
  })
  .meta({ id: 'DuelResult', description: 'Result of a duel, final or so far.' })
export type DuelResult = z.infer<typeof DuelResult>

export const DuelView = z
  .strictObject({
    id: DuelId,
    status: GenerationJobStatus,
    a: ModelLocation.describe('First model.'),
    b: ModelLocation.describe('Second model.'),
    tasks: Count.describe('Number of tasks.'),
    max_items: Count.describe('Maximum number of items.'),
    alpha: z.number().describe('Maximum probability of naming a winner although both models are equally good.'),
    smallest_difference: z.number().describe('Smallest difference of the mean scores that matters.'),
    run: NullableText.describe('Run whose prompt and grading rules apply; null if there is none.'),
    labels: EvalLabels,
    ...JobTimes,
    progress: GenerationProgress.describe(
      'Progress in samples, two for each item. Most duels end before all samples are used.',
    ),
    failures: SampleFailures,
    detail: JobFailure,
    result: DuelResult.nullable().describe(
      'Result, interim while the duel is active. In lists, null until the duel has ended.',
    ),
  })
  .meta({ id: 'DuelView', description: 'A duel with its result.' })
export type DuelView = z.infer<typeof DuelView>

const DuelAnswer = z
  .strictObject({
    score: NullableNumber.describe('Score of the answer, in [0, 1]; null if there is none.'),
    answer: NullableText.describe('Answer extracted from the completion; null if there is none.'),
    completion: NullableText.describe('Text of the completion; null if there is none.'),
  })
  .meta({ id: 'DuelAnswer', description: 'Answer of one model to an item of a duel.' })

export const DuelItem = z
  .strictObject({
    item_id: ItemId,
    task: z.string().describe('Name of the task.'),
    counted: z
      .boolean()
      .describe('Whether the test used the item. Items that were in flight when the duel ended are not used.'),
    a: DuelAnswer.describe('Answer of the first model.'),
    b: DuelAnswer.describe('Answer of the second model.'),
  })
  .meta({ id: 'DuelItem', description: 'One item of a duel, with the answers of both models.' })
export type DuelItem = z.infer<typeof DuelItem>
