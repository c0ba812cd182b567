/** Wire format of NeMo Gym's resources servers, which verifiers, prime-rl, Axolotl and NeMo RL also call. */
import { z } from 'zod'

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
    reward: z.number().describe('Reward to train on; 0 if `mask_sample` is true.'),
    score: z.number().nullable().describe('Library score in [0, 1]; null if unscored.'),
    penalty: z.number().nullable().describe('Score minus reward: the length penalty; null if unscored.'),
    task_name: z.string().nullable().describe('Task of the item; null if its ID cannot be read.'),
    extracted_answer: z.string().nullable().describe('Answer extracted from the response; null if there is none.'),
    fault: z.string().nullable().describe('Format fault of the response, such as `no_answer`; null if there is none.'),
    mask_sample: z
      .boolean()
      .describe('True if the sample could not be scored: leave it out of the loss and the metrics.'),
    failure_kind: z
      .string()
      .nullable()
      .describe('Why it could not be scored, such as `reasoning_gym:scorer_timeout`; null if scored.'),
    failure_reason: z.string().nullable().describe('The reason in a sentence; null if scored.'),
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

const Metrics = z.record(z.string(), z.union([z.number(), z.string()]))
export const NemoGymMetrics = z
  .strictObject({
    agent_metrics: Metrics.describe(
      'Means over all samples that are not masked: `mean/reward`, …, and `mean/reward/TASK`.',
    ),
    key_metrics: Metrics.describe('The most important of `agent_metrics`.'),
    group_level_metrics: z.array(Metrics).describe('The same for each row (`_ng_task_index`).'),
  })
  .meta({ id: 'NemoGymMetrics', description: 'Means of rewards and scores. Masked samples do not count.' })
export type NemoGymMetrics = z.infer<typeof NemoGymMetrics>
