/** The wire of OpenRLHF's reward URL (`--reward.remote_url`, before 0.10 `--remote_rm_url`). */
import { z } from 'zod'

const HINT = 'an array, as OpenRLHF sends it to --reward.remote_url'

export const OpenrlhfRequest = z
  .looseObject({
    query: z.array(z.unknown(), HINT).describe('Prompts with their responses: strings, special tokens kept.'),
    prompts: z.array(z.unknown(), HINT).describe('The prompts: strings. Each starts the query at the same position.'),
    labels: z
      .array(z.unknown(), `${HINT}; set --data.label_key item_id`)
      .describe(
        'Item IDs: strings. A trainer that has never sent any gets 400; later, a sample without one is unscored.',
      ),
  })
  .refine(({ query, prompts, labels }) => query.length === prompts.length && query.length === labels.length, {
    path: ['query'],
    message: 'query, prompts and labels have one length',
  })
  .meta({
    id: 'OpenrlhfRequest',
    description: 'Samples of OpenRLHF, as arrays of one length. Other fields are ignored.',
  })
export type OpenrlhfRequest = z.infer<typeof OpenrlhfRequest>

/** The same for bodies that are the wire, without the copies of the schema. */
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
      'What to train on. Of an unscored sample: 0, or the mean of its group so far if asked for.',
    ),
    scores: PerSample.describe(
      'Library scores in [0, 1], which OpenRLHF filters groups by. Unscored: the same as the reward.',
    ),
    extra_logs: z
      .strictObject({
        unscored: PerSample.describe('1 if the sample could not be scored: its reward is no measurement.'),
        no_answer: PerSample.describe('1 if the response has no answer.'),
        fault: PerSample.describe('1 if the response has any fault: no answer, several answers, a tag left open, …'),
      })
      .describe('Logged by OpenRLHF as means over the batch. The keys are always the same.'),
    errors: z
      .array(z.strictObject({ index: z.int(), code: z.string(), detail: z.string() }))
      .optional()
      .describe('Why samples are unscored. OpenRLHF ignores it.'),
  })
  .meta({ id: 'OpenrlhfResponse', description: 'One number for each sample, in the order of the request.' })
export type OpenrlhfResponse = z.infer<typeof OpenrlhfResponse>
