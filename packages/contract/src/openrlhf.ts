/** Wire format of OpenRLHF's reward URL (`--reward.remote_url`, before 0.10 `--remote_rm_url`). */
import { z } from 'zod'

const HINT = 'must be an array, as OpenRLHF sends it to --reward.remote_url'

export const OpenrlhfRequest = z
  .looseObject({
    query: z.array(z.unknown(), HINT).describe('Strings: each prompt followed by its response, with special tokens.'),
    prompts: z.array(z.unknown(), HINT).describe('Strings: prompt k is the beginning of query k.'),
    labels: z
      .array(z.unknown(), `${HINT}; set --data.label_key item_id`)
      .describe(
        'Strings: item IDs. A sample without one is unscored; if the trainer has never sent any, the call is a 400.',
      ),
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

/** Parses bodies in the expected form without the copies that the schema makes. */
export function parsePlainOpenrlhfRequest(value: unknown): OpenrlhfRequest | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { query, prompts, labels } = value as Record<string, unknown> // checked below
  if (!Array.isArray(query) || !Array.isArray(prompts) || !Array.isArray(labels)) return undefined
  return query.length === prompts.length && query.length === labels.length ? { query, prompts, labels } : undefined
}

const PerSample = z.array(z.number())

export const OpenrlhfResponse = z
  .strictObject({
    rewards: PerSample.describe(
      'Reward to train on. For an unscored sample: 0, or with `unscored=mean` the mean of its group so far.',
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
