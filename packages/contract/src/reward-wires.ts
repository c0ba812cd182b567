/** Wire formats of trainers that ask for rewards: of OpenRLHF (`--reward.remote_url`, before 0.10 `--remote_rm_url`) and of slime and miles (`--rm-type remote_rm --rm-url URL`). */
import { z } from 'zod'
import { NullableText } from './common.ts'

const HINT = 'must be an array, as OpenRLHF sends it to --reward.remote_url'
/** A whole rollout batch; with texts of 2 KB, a body of 64 MiB holds no more. */
const MAX_SAMPLES = 32_768

export const OpenrlhfRequest = z
  .looseObject({
    query: z.array(z.unknown(), HINT).describe('Strings: each prompt followed by its response, with special tokens.'),
    prompts: z.array(z.unknown(), HINT).describe('Strings: prompt k is the beginning of query k.'),
    labels: z
      .array(z.unknown(), `${HINT}; set --data.label_key item_id`)
      .max(MAX_SAMPLES)
      .describe('Strings: item IDs. A sample without one is unscored; if no sample has one, the call is a 400.'),
  })
  .refine(({ query, prompts, labels }) => query.length === prompts.length && query.length === labels.length, {
    path: ['query'],
    message: 'query, prompts and labels must have the same length',
  })
  .meta({
    id: 'OpenrlhfRequest',
    description: 'Samples of OpenRLHF as three arrays of equal length, which may be 0. Other fields are ignored.',
  })
export type OpenrlhfRequest = z.infer<typeof OpenrlhfRequest>

const PerSample = z.array(z.number())

export const OpenrlhfResponse = z
  .strictObject({
    rewards: PerSample.describe(
      'Reward to train on. For an unscored sample: the mean of its complete group, else of its task in the run; 0 with `unscored=zero`, and for an item of a suite except `easy-*` and `hard-*`.',
    ),
    scores: PerSample.describe(
      'Library score in [0, 1], by which OpenRLHF filters groups. For an unscored sample: the reward.',
    ),
    extra_logs: z
      .strictObject({
        unscored: PerSample.describe('1 if the sample could not be scored (its reward is then a stand-in), else 0.'),
        no_answer: PerSample.describe('1 if the response has no answer, else 0.'),
        fault: PerSample.describe(
          '1 if the response has a format fault (no answer, several answers, an unclosed tag, …), else 0.',
        ),
      })
      .describe('Values that OpenRLHF averages over the batch and logs. The keys are always the same.'),
    errors: z
      .array(
        z
          .strictObject({
            index: z.int().describe('Index of the sample, counted from 0.'),
            code: z.string().describe('Error code.'),
            detail: z.string().describe('Reason in a sentence.'),
          })
          .describe('Why one sample is unscored.'),
      )
      .optional()
      .describe('Why samples are unscored. OpenRLHF ignores this field.'),
  })
  .meta({ id: 'OpenrlhfResponse', description: 'Arrays with one number for each sample, in the order of the request.' })
export type OpenrlhfResponse = z.infer<typeof OpenrlhfResponse>

export const SlimeSample = z
  .looseObject({
    prompt: z.unknown().optional().describe('Text or messages. Ignored: the item ID identifies the question.'),
    response: z
      .unknown()
      .refine(
        (response) => response !== undefined,
        'missing: expected the text that the model generated, as slime sends it to --rm-url',
      )
      .describe('Text that the model generated. A sample without it is unscored.'),
    label: z
      .unknown()
      .optional()
      .describe('Item ID. Without one the sample is unscored; if no sample of the call has one, the call is a 400.'),
  })
  .meta({ id: 'SlimeSample', description: 'A sample of slime or miles. Other fields are ignored.' })
export type SlimeSample = z.infer<typeof SlimeSample>

export const SlimeRequest = z
  .union(
    [SlimeSample, z.array(SlimeSample).max(MAX_SAMPLES)],
    'must be an object with response and label, as slime sends it to --rm-url',
  )
  .meta({ id: 'SlimeRequest', description: 'One sample, or an array of them.' })
export type SlimeRequest = z.infer<typeof SlimeRequest>

const Score = z.number()

export const SlimeReward = z
  .strictObject({
    score: Score.describe('Library score in [0, 1]; equal to `reward` if the sample is unscored.'),
    reward: Score.describe(
      'Reward to train on. For an unscored sample: the mean of its complete group, else of its task in the run; 0 with `unscored=zero`, and for an item of a suite except `easy-*` and `hard-*`.',
    ),
    acc: Score.describe(
      '1 if the answer is right (score of at least 0.99), else 0; equal to `reward` if the sample is unscored.',
    ),
    unscored: z.boolean().describe('True if the sample could not be scored; `reward` is then a substitute.'),
    fault: NullableText.describe('Format fault of the response, such as `no_answer`; null if there is none.'),
    pred: NullableText.describe('Answer extracted from the response; null if there is none.'),
    code: z.string().optional().describe('Why the sample is unscored.'),
    detail: z.string().optional().describe('The reason in a sentence.'),
  })
  .meta({ id: 'SlimeReward', description: 'Reward and details, for --reward-key.' })
export type SlimeReward = z.infer<typeof SlimeReward>

export const SlimeResponse = z.union([Score, SlimeReward, z.array(z.union([Score, SlimeReward]))]).meta({
  id: 'SlimeResponse',
  description: 'The reward as a number or, with `shape=object`, as an object. An array if the request is one.',
})
