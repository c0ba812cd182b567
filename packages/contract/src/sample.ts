/** `POST /samples`: single rollouts, scored immediately. Those of a run are gathered into its groups. */
import { z } from 'zod'
import { AdapterName } from './adapter.ts'
import { Count, FinishReason, NullableNumber, NullableText } from './common.ts'
import { CompletionFields, exactlyOneOf } from './score.ts'
import { FeedbackLevel, MAX_TRIES, ScoredVerdict } from './verdict.ts'

const SampleInput = z
  .strictObject({
    item_id: NullableText.describe(
      'Item ID. If it is null or cannot be read, the sample is unscored; the other samples are not affected. With `unscored: "mean"`, a call of only such samples is rejected.',
    ),
    ...CompletionFields,
    rollout_id: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe(
        'ID of the rollout, unique in the run. Calls that repeat an ID count once, even if an earlier response was lost.',
      ),
    turn: z
      .union([
        z
          .int()
          .min(0)
          .max(MAX_TRIES - 1),
        z.literal('next'),
      ])
      .optional()
      .describe(
        'Place of this completion among the turns of `rollout_id`, from 0, if they come one at a time. The server keeps the turns before it. `next`: after the turns that it has, unless the last of them is equal. A wrong turn with another try has `retry_prompt` in its verdict; send one without a score again. The rollout joins a group with its last turn.',
      ),
    length_tokens: Count.optional().describe('Length of the completion in tokens, for length penalties.'),
    finish_reason: FinishReason.nullish().describe(
      'Why the generation ended, also as SGLang’s object with a `type`. `length`: the completion was cut off at the token limit.',
    ),
  })
  .refine(...exactlyOneOf(...Object.keys(CompletionFields)))
  .refine(({ turn, turns, rollout_id }) => turn === undefined || (rollout_id !== undefined && turns === undefined), {
    message: 'a turn needs rollout_id, and no turns',
    path: ['turn'],
  })
  .meta({
    id: 'SampleInput',
    description: 'One completion of one item: exactly one of `completion`, `messages`, `answer` and `turns`.',
  })
export type SampleInput = z.infer<typeof SampleInput>

export const SamplesRequest = z
  .strictObject({
    adapter: AdapterName.default('python').describe('Adapter that the samples are counted under in metrics.'),
    unscored: z
      .enum(['null', 'mean'])
      .default('null')
      .describe(
        'Reward of a sample that could not be scored, for trainers without a mask. `mean`: the mean reward of its group once the group is complete, for which the call waits up to 30 s; else the mean reward of the task in the run; 503 until there is one, and without a run; 0 for an item of a suite, except `easy-*` and `hard-*`. `null`: null.',
      ),
    samples: z.array(SampleInput).min(1).max(1024).describe('Completions to score.'),
    feedback: FeedbackLevel.optional().describe(
      'Feedback in verdicts without the full score. Defaults to the setting of the run, or to `none` without a run.',
    ),
  })
  .meta({ id: 'SamplesRequest', description: 'Up to 1,024 completions of any items, in any order.' })
export type SamplesRequest = z.infer<typeof SamplesRequest>

const ScoredSampleVerdict = ScoredVerdict.extend({
  retry_prompt: z
    .string()
    .optional()
    .describe('Message to the model for its next turn, if the sample is a wrong turn with another try.'),
}).meta({ id: 'ScoredSampleVerdict', description: 'A sample that was scored.' })

const UnscoredSampleVerdict = z
  .strictObject({
    status: z.literal('unscored').describe('The sample could not be scored.'),
    reward: NullableNumber.describe('null, or with `unscored: "mean"` the mean reward of its group or task, or 0.'),
    score: z.null().describe('Always null.'),
    code: z
      .string()
      .describe('Why there is no score: the code of an unscored verdict, or of the error that the sample caused.'),
    detail: z.string().describe('Reason in a sentence.'),
  })
  .meta({
    id: 'UnscoredSampleVerdict',
    description: 'A sample that could not be scored. The model is not at fault: do not train on it as 0.',
  })

export const SampleVerdict = z
  .discriminatedUnion('status', [ScoredSampleVerdict, UnscoredSampleVerdict])
  .meta({ id: 'SampleVerdict', description: 'Result of a sample: scored or unscored.' })
export type SampleVerdict = z.infer<typeof SampleVerdict>

export const SamplesResponse = z
  .strictObject({
    rewards: z
      .array(NullableNumber)
      .describe('Reward of each sample, in the order of the request; null if unscored, unless `unscored` is `mean`.'),
    verdicts: z.array(SampleVerdict).describe('Verdict of each sample, in the order of the request.'),
  })
  .meta({ id: 'SamplesResponse', description: 'Rewards and verdicts, in the order of the request.' })
export type SamplesResponse = z.infer<typeof SamplesResponse>
