/** Wire formats of trainers that ask for rewards: OpenRLHF (`--reward.remote_url`, before 0.10 `--remote_rm_url`), slime and miles (`--rm-type remote_rm --rm-url URL`), and NeMo Gym’s resources servers, which verifiers, prime-rl and NeMo RL also call. */
import { z } from 'zod'
import { NullableNumber, NullableText } from './common.ts'
import { Feedback } from './verdict.ts'

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
  return query.length === prompts.length && query.length === labels.length && labels.length <= MAX_SAMPLES
    ? { ...value, query, prompts, labels }
    : undefined
}

const PerSample = z.array(z.number())

export const OpenrlhfResponse = z
  .strictObject({
    rewards: PerSample.describe(
      'Reward to train on. For an unscored sample: the mean of its group so far, or with `unscored=zero` 0.',
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
      .describe('Item ID. Without one the sample is unscored; if the trainer has never sent any, the call is a 400.'),
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

/** Parses bodies in the expected form without the copies that the schema makes. */
export function parsePlainSlimeRequest(value: unknown): SlimeRequest | undefined {
  if (Array.isArray(value)) return value.length <= MAX_SAMPLES && value.every(isSlimeSample) ? value : undefined
  return isSlimeSample(value) ? value : undefined
}

function isSlimeSample(value: unknown): value is SlimeSample {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && 'response' in value
}

const Score = z.number()

export const SlimeReward = z
  .strictObject({
    score: Score.describe('Library score in [0, 1]; equal to `reward` if the sample is unscored.'),
    reward: Score.describe(
      'Reward to train on. For an unscored sample: the mean of its group so far, or with `unscored=zero` 0.',
    ),
    acc: Score.describe('1 if the answer is right (score of at least 0.99), else 0.'),
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

export const NemoGymVerifyRequest = z
  .looseObject({
    response: z
      .unknown()
      .optional()
      .describe(
        'Response of the model in the format of the Responses API. The messages after the last tool call are the completion.',
      ),
    item_id: z
      .unknown()
      .optional()
      .describe('Item ID of the row. It may also be in `task_data`, `verifier_metadata` or `metadata`.'),
    episode_id: z
      .unknown()
      .optional()
      .describe('`{"rollout_id", "attempt"}`, the ID of the rollout. Calls that repeat it count once in a run.'),
    verification_input: z
      .unknown()
      .optional()
      .describe('Object in which typed environments put the row and the response.'),
  })
  .refine(hasResponse, {
    path: ['response'],
    message: 'missing: expected the response of the model, as NeMo Gym posts it to /verify with the fields of the row',
  })
  .meta({ id: 'NemoGymVerifyRequest', description: 'A row and the response of the model. Other fields are echoed.' })
export type NemoGymVerifyRequest = z.infer<typeof NemoGymVerifyRequest>

function hasResponse(body: { response?: unknown; verification_input?: unknown }): boolean {
  const { response, verification_input: input } = body
  return response !== undefined || (typeof input === 'object' && input !== null && 'response' in input)
}

/** Parses bodies in the expected form without the copies that the schema makes. */
export function parsePlainNemoGymVerifyRequest(value: unknown): NemoGymVerifyRequest | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return hasResponse(value) ? { ...value } : undefined
}

/** The fields that /verify adds to the request. */
export const NemoGymVerdict = z
  .looseObject({
    reward: z.number().describe('Reward to train on; if `mask_sample` is true, the mean of its group so far.'),
    score: NullableNumber.describe('Library score in [0, 1]; null if unscored.'),
    penalty: NullableNumber.describe('Score minus reward: the length penalty; null if unscored.'),
    task_name: NullableText.describe('Task of the item; null if its ID cannot be read.'),
    extracted_answer: NullableText.describe('Answer extracted from the response; null if there is none.'),
    fault: NullableText.describe('Format fault of the response, such as `no_answer`; null if there is none.'),
    mask_sample: z
      .boolean()
      .describe('True if the sample could not be scored: leave it out of the loss and the metrics.'),
    failure_kind: NullableText.describe(
      'Why it could not be scored, such as `reasoning_gym:scorer_timeout`; null if scored.',
    ),
    failure_reason: NullableText.describe('The reason in a sentence; null if scored.'),
    feedback: Feedback.optional().describe(
      'What is wrong, with the setting `feedback` of the run. Absent if the score is 1.',
    ),
    instance_config: z
      .looseObject({ mask_sample: z.boolean().describe('Same as `mask_sample` of the response.') })
      .describe(
        'The `instance_config` of the request with `mask_sample`, where older releases of NeMo RL look for it.',
      ),
  })
  .meta({ id: 'NemoGymVerdict', description: 'The request, echoed, with the fields of the verdict.' })
export type NemoGymVerdict = z.infer<typeof NemoGymVerdict>

export const NemoGymSeedRequest = z
  .looseObject({ resources_session_id: z.string().optional().describe('ID of a typed session; echoed.') })
  .meta({ id: 'NemoGymSeedRequest', description: 'A row, or the IDs of a typed session. The server stores nothing.' })

export const NemoGymSeedResponse = z
  .strictObject({
    resources_session_id: z.string().optional().describe('The ID of the request.'),
    resources_tools: z.null().optional().describe('Always null: puzzles have no tools.'),
    sandbox_access: z.null().optional().describe('Always null: puzzles need no sandbox.'),
  })
  .meta({ id: 'NemoGymSeedResponse', description: 'Empty object for a row; for a typed session, its ID.' })

export const NemoGymCloseRequest = z
  .looseObject({ resources_session_id: z.string().optional().describe('ID of the session; echoed.') })
  .meta({ id: 'NemoGymCloseRequest', description: 'The IDs of a session. The call may be repeated.' })

export const NemoGymCloseResponse = z
  .strictObject({ resources_session_id: z.string().optional().describe('The ID of the request.') })
  .meta({ id: 'NemoGymCloseResponse', description: 'The ID of the closed session.' })

export const NemoGymMetricsRequest = z
  .looseObject({
    verify_responses: z.array(z.looseObject({})).describe('Responses of /verify, with the indices that NeMo Gym adds.'),
  })
  .meta({ id: 'NemoGymMetricsRequest', description: 'Responses to aggregate.' })

const NumberOrTextByName = z.record(z.string(), z.union([z.number(), z.string()]))
export const NemoGymMetrics = z
  .strictObject({
    agent_metrics: NumberOrTextByName.describe(
      'Means over all samples that are not masked: `mean/reward`, …, and `mean/reward/TASK`.',
    ),
    key_metrics: NumberOrTextByName.describe('The most important of `agent_metrics`.'),
    group_level_metrics: z.array(NumberOrTextByName).describe('The same for each row (`_ng_task_index`).'),
  })
  .meta({ id: 'NemoGymMetrics', description: 'Means of rewards and scores. Masked samples do not count.' })
export type NemoGymMetrics = z.infer<typeof NemoGymMetrics>
