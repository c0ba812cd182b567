/** POST /samples and POST /runs/{run}/samples: the wire of our own client files, for trainers that bring one rollout a call. */
import {
  type SampleInput,
  SamplesRequest,
  SamplesResponse,
  type SampleVerdict,
} from '@reasoning-gym-server/contract/sample'
import { toSubmission } from '../../rollouts/rollout-scoring.ts'
import { NoQuery, type RewardWire, type SentSample } from '../reward-route.ts'
import type { SampleResult } from '../samples.ts'

export const samplesWire: RewardWire<SamplesRequest, object> = {
  adapter: 'python',
  client: { kind: 'ours', getAdapter: ({ adapter }) => adapter, getFeedback: ({ feedback }) => feedback },
  tag: 'rewards',
  urls: ['/samples', '/runs/:run/samples'],
  operationId: 'scoreSamples',
  summary: 'Score single completions',
  body: SamplesRequest,
  query: NoQuery,
  response: SamplesResponse,
  retryWindowMs: 5000, // long enough for Redis to fail over; the client retries after that
  getOptions: ({ body: { unscored } }) => ({ unscored, siblingWindowMs: 30_000 }), // the client waits 60 s
  read: ({ samples }) => samples.map(toSample),
  write(samples): SamplesResponse {
    const verdicts = samples.map(toVerdict)
    return { rewards: verdicts.map(({ reward }) => reward), verdicts }
  },
}

function toSample(input: SampleInput): SentSample {
  return {
    label: input.item_id,
    submission: toSubmission(input),
    rolloutKey: input.rollout_id,
    turn: input.turn,
    tokens: input.length_tokens,
    finishReason: input.finish_reason ?? undefined,
  }
}

/** Without what only a group has, like the advantage. */
function toVerdict({ verdict, substitute, retryPrompt }: SampleResult): SampleVerdict {
  if (verdict.status === 'unscored') {
    const { status, score, code, detail } = verdict
    return { status, reward: substitute ?? null, score, code, detail }
  }
  const { status, reward, score, answer, fault, components, feedback, turns } = verdict
  return {
    status,
    reward,
    score,
    answer,
    fault,
    components,
    ...(feedback && { feedback }),
    ...(turns && { turns }),
    ...(retryPrompt !== undefined && { retry_prompt: retryPrompt }),
  }
}
