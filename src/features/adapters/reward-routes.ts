/** What the routes of the reward URLs have in common. */

import type { AdapterName } from '@reasoning-gym-server/contract/adapter'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { enableLingeringClose } from '../../http/connections/lingering-close.ts'
import { problemResponses } from '../../http/errors/problem-responses.ts'
import { withFastParser } from '../../http/validation.ts'
import { getRun } from './run-paths.ts'
import type { SampleResult, SampleScoring } from './sample-scoring.ts'

/** `unscored` of a reward URL's query. */
export const UnscoredRule = z
  .enum(['zero', 'mean'])
  .default('zero')
  .describe(
    'Reward of a sample that could not be scored: 0, or the mean reward of the other samples of its item so far.',
  )

export const REWARD_BODY_BYTES = 64 * 1024 * 1024

/** The errors that a route documents; `OfRun` for the one with a run in its path. */
export function rewardProblems(idSuffix: '' | 'OfRun') {
  return problemResponses(
    'invalid_request',
    'invalid_json',
    'engine_unavailable',
    'make_timeout',
    'make_out_of_memory',
    ...(idSuffix === '' ? [] : (['redis_unavailable', 'redis_full'] as const)),
  )
}

/** Answers a sample that is larger than a body may be as unscored, since an error would end the run of the trainer. */
export function sendUnscoredIfTooLarge(
  samples: SampleScoring,
  adapter: AdapterName,
  format: (results: SampleResult[], query: unknown) => string,
) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    if (!(error instanceof ServiceError) || error.code !== 'body_too_large') throw error
    const run = getRun(request.params as object) // validated before the body is read or not at all
    enableLingeringClose(request.raw)
    reply.removeHeader('connection') // the rest of the body is read and thrown away
    return sendJsonText(reply.status(200), format([samples.recordUnreadable(adapter, run, error)], request.query))
  }
}

/** Sends JSON that an adapter has written itself: see float-json.ts. */
export function sendJsonText(reply: FastifyReply, text: string): FastifyReply {
  return reply.type('application/json').send(text)
}

/** A query that is empty, as nearly all are, has the defaults. */
export function withoutQueryAtOnce<Query extends z.ZodObject>(query: Query): Query {
  const defaults: object = query.parse({})
  return withFastParser(query, (value) =>
    typeof value === 'object' && value !== null && Object.keys(value).length === 0 ? { ...defaults } : undefined,
  )
}
