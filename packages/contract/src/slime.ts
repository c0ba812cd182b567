/** Wire format of slime and miles (`--rm-type remote_rm --rm-url URL`). */
import { z } from 'zod'

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
      .describe('Item ID. Without one the sample is unscored; if the trainer has never sent any, the call is a 400.'),
  })
  .meta({ id: 'SlimeSample', description: 'A sample of slime or miles. Other fields are ignored.' })
export type SlimeSample = z.infer<typeof SlimeSample>

export const SlimeRequest = z
  .union(
    [SlimeSample, z.array(SlimeSample)],
    'must be an object with response and label, as slime sends it to --rm-url',
  )
  .meta({ id: 'SlimeRequest', description: 'One sample, or an array of them.' })
export type SlimeRequest = z.infer<typeof SlimeRequest>

/** Parses bodies in the expected form without the copies that the schema makes. */
export function parsePlainSlimeRequest(value: unknown): SlimeRequest | undefined {
  if (Array.isArray(value)) return value.every(isSample) ? value : undefined
  return isSample(value) ? value : undefined
}

function isSample(value: unknown): value is SlimeSample {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && 'response' in value
}

const Score = z.number()

export const SlimeReward = z
  .strictObject({
    score: Score.describe('Library score in [0, 1]; equal to `reward` if the sample is unscored.'),
    reward: Score.describe(
      'Reward to train on. For an unscored sample: 0, or with `unscored=mean` the mean of its group so far.',
    ),
    acc: Score.describe('1 if the answer is right (score of at least 0.99), else 0.'),
    unscored: z.boolean().describe('True if the sample could not be scored; `reward` is then a substitute.'),
    fault: z.string().nullable().describe('Format fault of the response, such as `no_answer`; null if there is none.'),
    pred: z.string().nullable().describe('Answer extracted from the response; null if there is none.'),
    code: z.string().optional().describe('Why the sample is unscored.'),
    detail: z.string().optional().describe('The reason in a sentence.'),
  })
  .meta({ id: 'SlimeReward', description: 'Reward and details, for --reward-key.' })
export type SlimeReward = z.infer<typeof SlimeReward>

export const SlimeResponse = z.union([Score, SlimeReward, z.array(z.union([Score, SlimeReward]))]).meta({
  id: 'SlimeResponse',
  description: 'The reward as a number or, with `shape=object`, as an object. An array if the request is one.',
})
