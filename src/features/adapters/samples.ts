/** POST /samples and POST /runs/{run}/samples: the wire of our own client files, for trainers that bring one rollout a call. */

import { RunName } from '@reasoning-gym-server/contract/rollout'
import {
  type SampleInput,
  SamplesRequest,
  SamplesResponse,
  type SampleVerdict,
} from '@reasoning-gym-server/contract/sample'
import { z } from 'zod'
import type { App } from '../../http/app.ts'
import { ifMatchHeader } from '../../http/conditional-headers.ts'
import { problemResponses } from '../../http/errors/problem-responses.ts'
import { observeDelivery } from './delivery.ts'
import type { AdaptersFeature } from './index.ts'
import type { SampleVerdict as GradedVerdict, Sample } from './sample-scoring.ts'

const BODY_BYTES = 64 * 1024 * 1024
/** Long enough for Redis to fail over; the client retries after that. */
const HOLD_MS = 5000

const RESPONSES = {
  200: SamplesResponse,
  ...problemResponses(
    'invalid_request',
    'invalid_json',
    'body_too_large',
    'engine_unavailable',
    'redis_unavailable',
    'redis_full',
  ),
}

export function addSampleRoutes(app: App, { samples }: AdaptersFeature): void {
  app.post(
    '/samples',
    {
      bodyLimit: BODY_BYTES,
      schema: {
        operationId: 'scoreSamples',
        tags: ['adapters'],
        summary: 'Score single completions (without a run)',
        description: 'The default settings apply, and the server stores nothing.',
        body: SamplesRequest,
        response: RESPONSES,
      },
    },
    async ({ body: { adapter, samples: inputs } }) =>
      toResponse(await samples.score({ adapter, samples: inputs.map(toSample), holdMs: HOLD_MS })),
  )

  app.post(
    '/runs/:run/samples',
    {
      bodyLimit: BODY_BYTES,
      schema: {
        operationId: 'scoreSamplesOfRun',
        tags: ['adapters'],
        summary: 'Score single completions (in a run)',
        description: 'The settings of the run apply, and the server gathers the completions of one item into a group.',
        params: z.strictObject({ run: RunName }),
        headers: z.looseObject(ifMatchHeader),
        body: SamplesRequest,
        response: { ...RESPONSES, ...problemResponses('run_changed', 'run_recreated') },
      },
    },
    async ({ body: { adapter, samples: inputs }, params: { run }, headers }, reply) => {
      const delivery = observeDelivery(reply)
      const call = { adapter, run, samples: inputs.map(toSample), holdMs: HOLD_MS, condition: headers['if-match'] }
      return toResponse(await samples.score({ ...call, delivery }))
    },
  )
}

function toSample(input: SampleInput): Sample {
  return {
    itemId: input.item_id ?? undefined,
    submission: toSubmission(input),
    rolloutKey: input.rollout_id,
    tokens: input.length_tokens,
    finishReason: input.finish_reason ?? undefined,
  }
}

function toSubmission({ completion, messages, answer }: SampleInput): Sample['submission'] {
  if (messages !== undefined) return { kind: 'messages', messages }
  if (answer !== undefined) return { kind: 'answer', answer }
  return { kind: 'completion', completion: completion ?? '' }
}

function toResponse(results: { verdict: GradedVerdict }[]): SamplesResponse {
  const verdicts = results.map(({ verdict }) => toVerdict(verdict))
  return { rewards: verdicts.map(({ reward }) => reward), verdicts }
}

/** Without what only a group has, like the advantage. */
function toVerdict(verdict: GradedVerdict): SampleVerdict {
  if (verdict.status === 'unscored') {
    const { status, reward, score, code, detail } = verdict
    return { status, reward, score, code, detail }
  }
  const { status, reward, score, answer, fault, penalty } = verdict
  return { status, reward, score, answer, fault, penalty }
}
