/** The wire of NeMo Gym's resources servers, which verifiers, prime-rl, Axolotl and NeMo RL call too. */
import { z } from 'zod'

export const NemoGymVerifyRequest = z
  .looseObject({
    response: z
      .unknown()
      .optional()
      .describe('Response of the model, as the Responses API has it. Read are the messages after the last tool call.'),
    item_id: z
      .unknown()
      .optional()
      .describe('Item ID, from the row; also read from `task_data`, `verifier_metadata` and `metadata`.'),
    episode_id: z
      .unknown()
      .optional()
      .describe('`{"rollout_id", "attempt"}` names the rollout: a call that repeats it counts once in a run.'),
    verification_input: z.unknown().optional().describe('Where typed environments put row and response.'),
  })
  .refine(hasResponse, {
    path: ['response'],
    message: 'the response of the model, as NeMo Gym posts it to /verify beside the fields of the row',
  })
  .meta({ id: 'NemoGymVerifyRequest', description: 'A row, and the response of the model. Other fields are echoed.' })
export type NemoGymVerifyRequest = z.infer<typeof NemoGymVerifyRequest>

function hasResponse(body: { response?: unknown; verification_input?: unknown }): boolean {
  const { response, verification_input: input } = body
  return response !== undefined || (typeof input === 'object' && input !== null && 'response' in input)
}

/** The same for bodies that are the wire, without the copies of the schema. */
export function parsePlainNemoGymVerifyRequest(value: unknown): NemoGymVerifyRequest | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return hasResponse(value) ? { ...value } : undefined
}

/** The fields that /verify adds to the request. */
export const NemoGymVerdict = z
  .looseObject({
    reward: z.number().describe('What to train on; 0 where `mask_sample` is true.'),
    score: z.number().nullable().describe('Library score in [0, 1]; null if unscored.'),
    penalty: z.number().nullable().describe('score − reward; null if unscored.'),
    task_name: z.string().nullable().describe('Task of the item; null if its ID cannot be read.'),
    extracted_answer: z.string().nullable().describe('Answer that was read from the response.'),
    fault: z.string().nullable().describe('What is wrong with the response, such as `no_answer`; null if nothing is.'),
    mask_sample: z.boolean().describe('True if the sample could not be scored: leave it out of loss and metrics.'),
    failure_kind: z.string().nullable().describe('Why it could not be scored, such as `reasoning_gym:scorer_timeout`.'),
    failure_reason: z.string().nullable().describe('The same in a sentence.'),
    instance_config: z
      .looseObject({ mask_sample: z.boolean() })
      .describe('That of the request, with `mask_sample` where NeMo RL before the top-level field reads it.'),
  })
  .meta({ id: 'NemoGymVerdict', description: 'The request echoed, with the verdict.' })
export type NemoGymVerdict = z.infer<typeof NemoGymVerdict>

export const NemoGymSeedRequest = z
  .looseObject({ resources_session_id: z.string().optional().describe('ID of a typed session, echoed.') })
  .meta({ id: 'NemoGymSeedRequest', description: 'A row, or the identifiers of a typed session. Nothing is kept.' })

export const NemoGymSeedResponse = z
  .strictObject({
    resources_session_id: z.string().optional().describe('As sent.'),
    resources_tools: z.null().optional().describe('None: puzzles have no tools.'),
    sandbox_access: z.null().optional().describe('None.'),
  })
  .meta({ id: 'NemoGymSeedResponse', description: 'Empty for a row; for a typed session its ID.' })

export const NemoGymCloseRequest = z
  .looseObject({ resources_session_id: z.string().optional().describe('ID of the session, echoed.') })
  .meta({ id: 'NemoGymCloseRequest', description: 'The identifiers of a session. Closing repeats safely.' })

export const NemoGymCloseResponse = z
  .strictObject({ resources_session_id: z.string().optional().describe('As sent.') })
  .meta({ id: 'NemoGymCloseResponse', description: 'The ID of the session that is closed.' })

export const NemoGymMetricsRequest = z
  .looseObject({
    verify_responses: z.array(z.looseObject({})).describe('Answers of /verify, with the indices that NeMo Gym adds.'),
  })
  .meta({ id: 'NemoGymMetricsRequest', description: 'The answers to aggregate.' })

const Metrics = z.record(z.string(), z.union([z.number(), z.string()]))
export const NemoGymMetrics = z
  .strictObject({
    agent_metrics: Metrics.describe('Over all samples that are not masked: `mean/reward`, …, and `mean/reward/TASK`.'),
    key_metrics: Metrics.describe('The headline among them.'),
    group_level_metrics: z.array(Metrics).describe('One for each row (`_ng_task_index`).'),
  })
  .meta({ id: 'NemoGymMetrics', description: 'Means of rewards and scores. Masked samples do not count.' })
export type NemoGymMetrics = z.infer<typeof NemoGymMetrics>
