/** The samples of an eval: completions with their scores, how a list selects them, and completions that you post. */
import { z } from 'zod'
import { Count, FinishReason, NullableNumber, NullableText } from './common.ts'
import { ItemId } from './item-id.ts'
import { Difficulty } from './recipe.ts'
import { Message } from './rollout.ts'
import { FormatFault, UnscoredCode } from './verdict.ts'

export const SampleId = z.string().regex(/^s\d{1,9}$/, 'must be a sample_id that GET /eval/{id}/items returned')

export const CompletionInput = z
  .strictObject({
    sample_id: SampleId.describe('ID of the sample, as `GET /eval/{id}/items` returned it.'),
    completion: z.string().optional().describe('Text that the model generated. Give either this or `messages`.'),
    messages: z.array(Message).min(1).optional().describe('Completion as chat messages, in place of `completion`.'),
    finish_reason: FinishReason.nullish().describe(
      'Why the generation ended, also as SGLang’s object with a `type`. `length`: the completion was cut off at the token limit.',
    ),
    length_tokens: Count.optional().describe('Length of the completion in tokens.'),
  })
  .refine(({ completion, messages }) => (completion === undefined) !== (messages === undefined), {
    path: ['completion'],
    message: 'give either completion or messages',
  })
  .meta({ id: 'CompletionInput', description: 'A completion that you post for a sample of an eval.' })
export type CompletionInput = z.infer<typeof CompletionInput>

export const EvalSample = z
  .strictObject({
    sample_id: SampleId.describe('ID of the sample.'),
    item_id: ItemId,
    task: z.string().describe('Name of the task.'),
    difficulty: Difficulty.nullable().describe('Difficulty of the item; null for library defaults or a config.'),
    status: z
      .enum(['scored', 'unscored', 'missing'])
      .describe('`scored`; `unscored`: the model or the scorer failed; `missing`: there is no completion.'),
    score: NullableNumber.describe('Score of the answer, in [0, 1]; null if there is none.'),
    answer: NullableText.describe('Answer extracted from the completion; null if there is none.'),
    fault: FormatFault.nullable().describe('Format fault of the completion; null if there is none.'),
    code: UnscoredCode.optional(),
    detail: z.string().optional().describe('Why the sample has no score, in a sentence.'),
    finish_reason: NullableText.describe('Why the generation ended; null if unknown.'),
    length_tokens: Count.nullable().describe('Length of the completion in tokens; null if unknown.'),
    completion: NullableText.describe('Text of the completion; null if it is missing or was not kept.'),
    completion_omitted: z
      .literal(true)
      .optional()
      .describe(
        'Set if the completion was not kept: it was too large, or the limit of the eval or of all evals was reached.',
      ),
    reasoning: z.string().optional().describe('Reasoning that the model’s server returned separately.'),
    messages: z.array(Message).optional().describe('Completion as chat messages, if it was posted as such.'),
    expected: NullableText.optional().describe(
      'Expected answer; null if the library has none. Only for the role admin, and for scored samples once the eval has ended.',
    ),
  })
  .meta({ id: 'EvalSample', description: 'One completion of an eval, with its score.' })
export type EvalSample = z.infer<typeof EvalSample>

export const SampleOrder = z.enum(['suite', 'worst']).meta({
  id: 'SampleOrder',
  description: '`suite`: in the order of the suite; `worst`: the lowest score first, samples without a score last.',
})
export type SampleOrder = z.infer<typeof SampleOrder>

export const SampleFilter = z.strictObject({
  task: z.string().max(64).optional().describe('Only samples of this task.'),
  show: z
    .enum(['all', 'right', 'wrong', 'faults', 'truncated', 'unscored'])
    .default('all')
    .describe(
      'Only samples of this kind. `right`: a score of at least 0.99; `wrong`: a lower score. `faults`: a format fault; `truncated`: cut off at the token limit; `unscored`: without a score.',
    ),
  q: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('Only samples with this text in the completion or its reasoning, in any case.'),
})
export type SampleFilter = z.infer<typeof SampleFilter>

export const EvalSamplePage = z
  .strictObject({
    samples: z.array(EvalSample).describe('Samples that match the filters, in the order of `sort`.'),
    next_cursor: NullableText.describe('Value of `cursor` for the next page; null on the last page.'),
    searched: Count.describe('Number of samples that this call examined.'),
    total: Count.describe('Number of samples of the eval.'),
  })
  .meta({ id: 'EvalSamplePage', description: 'A page of the samples of an eval.' })
export type EvalSamplePage = z.infer<typeof EvalSamplePage>
