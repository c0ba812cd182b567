/** Builds the answer to /verify: the request with the verdict. */
import type { NemoGymVerdict, NemoGymVerifyRequest } from '@reasoning-gym-server/contract/nemo-gym'
import type { SampleResult } from '../sample-scoring.ts'
import { isObject } from './read-sample.ts'

/** Failure kinds. Names outside Gym's vocabulary (`nemo_gym/failure_kinds.py`) have the environment's prefix. */
const FAILURE_PREFIX = 'reasoning_gym:'

export function buildVerifyResponse(body: NemoGymVerifyRequest, result: SampleResult): NemoGymVerdict {
  return { ...body, ...buildVerdictFields(result), instance_config: buildInstanceConfig(body, result) }
}

function buildVerdictFields({ verdict, recipe }: SampleResult) {
  const unscored = verdict.status === 'unscored'
  return {
    reward: verdict.reward ?? 0,
    score: verdict.score,
    penalty: unscored ? null : verdict.penalty,
    task_name: recipe?.task ?? null,
    extracted_answer: unscored ? null : verdict.answer,
    fault: unscored ? null : verdict.fault,
    mask_sample: unscored,
    failure_kind: unscored ? FAILURE_PREFIX + verdict.code : null,
    failure_reason: unscored ? verdict.detail : null,
  }
}

/** Sets the field from which NeMo RL reads the mask until it supports a field of its own. */
function buildInstanceConfig({ instance_config: given }: NemoGymVerifyRequest, { verdict }: SampleResult) {
  return { ...(isObject(given) && given), mask_sample: verdict.status === 'unscored' }
}
