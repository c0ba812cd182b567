/** Converts the sample outputs of a collection to rollouts for submission, and reads the scores that come back. */
import type { Group, Rollout } from '@reasoning-gym-server/contract/rollout'
import type { ModelResponse } from './model-client/model-response.ts'
import type { FailureCause } from './sample-failures.ts'
import { buildAssistantMessage, type SampleOutput } from './sample-output.ts'

/** Includes the tokens and logprobs that the model's server returned and masks the prompt tokens. */
export function buildRollout(output: SampleOutput): Rollout {
  if (output.kind !== 'response')
    return { completion: '', finish_reason: 'error', extra: { reason: output.kind === 'failed' ? output.detail : '' } }
  const { response } = output
  const { content, reasoning, tool_calls, finish_reason, length_tokens } = response
  return {
    ...(reasoning === undefined && !tool_calls
      ? { completion: content }
      : { messages: [buildAssistantMessage(response)] }),
    finish_reason,
    ...(length_tokens !== undefined && { length_tokens }),
    ...buildTokenFields(response),
  }
}

function buildTokenFields({
  prompt_token_ids: prompt = [],
  token_ids,
  logprobs,
}: ModelResponse): Pick<Rollout, 'tokens' | 'masks' | 'logprobs'> {
  if (!token_ids) return logprobs ? { logprobs } : {}
  const masked = prompt.map(() => -100)
  return {
    tokens: [...prompt, ...token_ids],
    masks: [...masked, ...token_ids],
    ...(logprobs?.length === token_ids.length && { logprobs: [...prompt.map(() => 1), ...logprobs] }),
  }
}

/** Returns the scores of the rollouts that count in the group's mean, or none if the group is not scored. */
export function listCountedScores(group: Group | undefined): number[] {
  if (group?.status !== 'scored') return []
  return (group.verdicts ?? []).flatMap(({ score, skipped }) => (score === null || skipped ? [] : [score]))
}

/** Returns why rollouts have no score: the model gave no completion, or the completion could not be scored. */
export function listRolloutFailures(outputs: readonly SampleOutput[], group: Group | undefined): FailureCause[] {
  return outputs.flatMap((output, k): FailureCause[] => {
    if (output.kind === 'failed') return [{ code: 'generation_failed', detail: output.detail }]
    const verdict = group?.verdicts?.[k]
    return verdict?.status === 'unscored' ? [{ code: verdict.code, detail: verdict.detail }] : []
  })
}
