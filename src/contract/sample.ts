/** `POST /samples`: rollouts that come one at a time, scored at once; with a run they are gathered into its groups. */
import { z } from 'zod'
import { AdapterName } from './adapter.ts'
import { Message } from './rollout.ts'
import { ScoredVerdict } from './verdict.ts'

const SampleInput = z
  .strictObject({
    item_id: z
      .string()
      .nullable()
      .describe('A sample whose item ID cannot be read is unscored; the others of the call are not affected.'),
    completion: z.string().optional(),
    messages: z.array(Message).min(1).optional(),
    answer: z.string().optional().describe('The bare answer, without tags.'),
    rollout_id: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe(
        'Unique for each rollout of the run. A retry with the same ID counts once, even if the first answer was lost.',
      ),
    length_tokens: z.int().min(0).optional().describe('Length of the completion, for penalties by length.'),
    finish_reason: z.string().max(64).nullish().describe('`length`: cut by the token limit.'),
  })
  .refine(
    ({ completion, messages, answer }) =>
      [completion, messages, answer].filter((given) => given !== undefined).length === 1,
    { message: 'give exactly one of completion, messages, answer' },
  )
  .meta({ id: 'SampleInput', description: 'One rollout.' })
export type SampleInput = z.infer<typeof SampleInput>

export const SamplesRequest = z
  .strictObject({
    adapter: AdapterName.default('python').describe(
      'Client file that sends the samples, for metrics and `GET /adapters`.',
    ),
    samples: z.array(SampleInput).min(1).max(1024),
  })
  .meta({ id: 'SamplesRequest', description: 'Rollouts of any items, in any order.' })
export type SamplesRequest = z.infer<typeof SamplesRequest>

const UnscoredSampleVerdict = z
  .strictObject({
    status: z.literal('unscored'),
    reward: z.null(),
    score: z.null(),
    code: z.string().describe('Why there is no score: the code of a verdict, or of the error that the item ID caused.'),
    detail: z.string(),
  })
  .meta({ id: 'UnscoredSampleVerdict', description: 'A sample without a score. It is never the fault of the model.' })

export const SampleVerdict = z
  .discriminatedUnion('status', [ScoredVerdict, UnscoredSampleVerdict])
  .meta({ id: 'SampleVerdict', description: 'What became of a sample.' })
export type SampleVerdict = z.infer<typeof SampleVerdict>

export const SamplesResponse = z
  .strictObject({
    rewards: z.array(z.number().nullable()).describe('What to train on, in the order of the samples; null: unscored.'),
    verdicts: z.array(SampleVerdict).describe('In the order of the samples.'),
  })
  .meta({ id: 'SamplesResponse', description: 'Rewards and verdicts of the samples, in their order.' })
export type SamplesResponse = z.infer<typeof SamplesResponse>
