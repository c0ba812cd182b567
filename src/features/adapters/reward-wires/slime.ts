/** slime and miles: POST /slime[/{run}]/rm, the reward URL of `--rm-type remote_rm --rm-url`. */

import { SlimeRequest, SlimeResponse, type SlimeSample } from '@reasoning-gym-server/contract/reward-wires'
import { isCorrect } from '@reasoning-gym-server/contract/verdict'
import { z } from 'zod'
import type { Submission } from '../../../grading/submission.ts'
import { getReward, RewardUrlQuery, type RewardWire, skipEmptyQuery } from '../reward-route.ts'
import type { SampleResult } from '../samples.ts'
import { formatFloat } from '../trainer-calls.ts'
import { stripTrailingTokens } from './openrlhf-response.ts'

const SlimeQuery = skipEmptyQuery(
  RewardUrlQuery.extend({
    shape: z
      .enum(['number', 'object'])
      .default('number')
      .describe('`object`: return an object, for --reward-key. Only this form says which samples are unscored.'),
  }),
)

export const slimeWire: RewardWire<SlimeRequest, z.infer<typeof SlimeQuery>> = {
  adapter: 'slime',
  client: { kind: 'foreign', hint: 'label: no item ID; set --label-key item_id' },
  tag: 'slime',
  urls: ['/slime/rm', '/slime/:run/rm'],
  operationId: 'scoreSlimeSamples',
  summary: 'Score completions for slime and miles',
  body: SlimeRequest,
  query: SlimeQuery,
  response: SlimeResponse,
  retryWindowMs: 100_000, // slime waits 120 s in each of ten attempts; miles waits 300 s once
  getOptions: ({ query: { unscored, n } }) => ({ unscored, groupSize: n, siblingWindowMs: 100_000 }),
  read: (body) => [body].flat().map((sample) => ({ label: sample.label, submission: readSubmission(sample) })),
  write(samples, { query, body }) {
    const texts = samples.map(query.shape === 'object' ? formatObject : (sample) => formatFloat(getReward(sample)))
    return Array.isArray(body) ? `[${texts.join(', ')}]` : (texts[0] ?? '')
  },
}

function readSubmission({ response }: SlimeSample): Submission {
  return typeof response === 'string'
    ? { kind: 'completion', completion: stripTrailingTokens(response) }
    : { kind: 'nothing', detail: 'response is no string' }
}

/** Writes text, because integer rewards would become integer tensors (trainer-calls.ts). */
function formatObject(sample: SampleResult): string {
  const { verdict } = sample
  const reward = getReward(sample)
  const scored = verdict.status === 'scored'
  const score = verdict.score ?? reward
  const rest = scored
    ? { unscored: false, fault: verdict.fault, pred: verdict.answer }
    : { unscored: true, fault: null, pred: null, code: verdict.code, detail: verdict.detail }
  const acc = scored ? Number(isCorrect(verdict.score)) : reward
  const numbers = `"score": ${formatFloat(score)}, "reward": ${formatFloat(reward)}, "acc": ${formatFloat(acc)}`
  return `{${numbers}, ${JSON.stringify(rest).slice(1)}`
}
