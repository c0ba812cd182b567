/** OpenRLHF: POST /openrlhf[/{run}]/get_reward, the reward URL of `--reward.remote_url`. */
import { OpenrlhfRequest, OpenrlhfResponse } from '@reasoning-gym-server/contract/reward-wires'
import type { Submission } from '../../../grading/submission.ts'
import { getReward, RewardUrlQuery, type RewardWire } from '../reward-route.ts'
import type { SampleResult } from '../samples.ts'
import { formatFloats } from '../trainer-calls.ts'
import { readResponse } from './openrlhf-response.ts'

export const openrlhfWire: RewardWire<OpenrlhfRequest, RewardUrlQuery> = {
  adapter: 'openrlhf',
  client: { kind: 'foreign', hint: 'labels: no item IDs; set --data.label_key item_id' },
  tag: 'openrlhf',
  urls: ['/openrlhf/get_reward', '/openrlhf/:run/get_reward'],
  operationId: 'scoreOpenrlhfSamples',
  summary: 'Score completions for OpenRLHF',
  body: OpenrlhfRequest,
  query: RewardUrlQuery,
  response: OpenrlhfResponse,
  retryWindowMs: 150_000, // OpenRLHF waits 180 s in each of five attempts
  getOptions: ({ query: { unscored, n } }) => ({ unscored, groupSize: n, siblingWindowMs: 150_000 }),
  read: ({ query, prompts, labels }) =>
    labels.map((label, k) => ({ label, submission: readSubmission(query[k], prompts[k]) })),
  write: formatResponse,
}

function readSubmission(query: unknown, prompt: unknown): Submission {
  if (typeof query !== 'string' || typeof prompt !== 'string')
    return { kind: 'nothing', detail: 'query and prompts hold strings' }
  const completion = readResponse(query, prompt)
  return completion === undefined
    ? {
        kind: 'nothing',
        detail: 'The query does not start with its prompt, so the server cannot separate the response from it',
      }
    : { kind: 'completion', completion }
}

/** Writes text, because integer rewards would become integer tensors (trainer-calls.ts). */
function formatResponse(samples: SampleResult[]): string {
  const scores = samples.map((sample) => sample.verdict.score ?? getReward(sample))
  const errors = samples.flatMap(({ verdict }, index) =>
    verdict.status === 'unscored' ? [{ index, code: verdict.code, detail: verdict.detail }] : [],
  )
  const logs = {
    unscored: formatFlags(samples, ({ verdict }) => verdict.status === 'unscored'),
    no_answer: formatFlags(samples, ({ verdict }) => verdict.status === 'scored' && verdict.fault === 'no_answer'),
    fault: formatFlags(samples, ({ verdict }) => verdict.status === 'scored' && verdict.fault !== null),
  }
  const extraLogs = `{"unscored": ${logs.unscored}, "no_answer": ${logs.no_answer}, "fault": ${logs.fault}}`
  const details = errors.length > 0 ? `, "errors": ${JSON.stringify(errors)}` : ''
  const rewards = formatFloats(samples.map(getReward))
  return `{"rewards": ${rewards}, "scores": ${formatFloats(scores)}, "extra_logs": ${extraLogs}${details}}`
}

function formatFlags(samples: SampleResult[], isSet: (sample: SampleResult) => boolean): string {
  return `[${samples.map((sample) => (isSet(sample) ? '1.0' : '0.0')).join(', ')}]`
}
