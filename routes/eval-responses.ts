/** What the routes of evals and collections share. */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { type Caller, canAccessRun } from '../src/contract/caller.ts'
import { ServiceError } from '../src/contract/errors.ts'
import { EvalId, ModelApiKey } from '../src/contract/eval.ts'
import type { StoredEval } from '../src/features/evals/eval-view.ts'
import type { EvalsFeature } from '../src/features/evals/index.ts'
import { EVENT_STREAM_HEADERS } from '../src/http/event-stream.ts'

export const EvalParams = z.strictObject({ id: EvalId })

export const ModelKeyBody = z
  .strictObject({
    api_key: ModelApiKey.optional().describe('Of the model: the first one was forgotten'),
  })
  .default({})

export const IdempotencyHeaders = z.looseObject({
  'idempotency-key': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe('The same key and body within an hour give the same answer, and nothing is done twice'),
})

/** An eval that the caller may see: a key that is bound to runs sees theirs only. */
export async function requireEvalForCaller({ evals }: EvalsFeature, id: string, caller: Caller): Promise<StoredEval> {
  const found = await evals.require(id)
  const { run } = found.spec
  if (run !== null && !canAccessRun(caller, run)) {
    throw new ServiceError('forbidden', 'This key is bound to other runs than the eval’s')
  }
  return found
}

/** Answers with server-sent events as they come. */
export function sendEventStream<Reply extends Pick<FastifyReply, 'headers' | 'send'>>(
  events: AsyncIterable<string>,
  reply: Reply,
) {
  return reply.headers(EVENT_STREAM_HEADERS).send(Readable.from(events))
}

/** Ends the streams of a server that is closing. */
export function createShutdownSignal(app: {
  addHook(name: 'preClose', hook: (done: () => void) => void): unknown
}): AbortSignal {
  const closing = new AbortController()
  app.addHook('preClose', (done) => {
    closing.abort()
    done()
  })
  return closing.signal
}
