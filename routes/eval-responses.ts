/** Schemas and responses that the routes of evals and collections share. */
import { Readable } from 'node:stream'
import { EvalId, ModelApiKey } from '@reasoning-gym-server/contract/eval'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { EVENT_STREAM_HEADERS } from '../src/http/event-stream.ts'

/** Content Security Policy of reports, which have their own styles and load nothing. */
export const REPORT_CSP = "default-src 'none'; style-src 'unsafe-inline'"

export const EvalParams = z.strictObject({ id: EvalId })

export const LastEventIdHeaders = z.looseObject({
  'last-event-id': z.string().max(64).optional().describe('ID of the last event received, to resume the stream.'),
})

export const ModelKeyBody = z
  .strictObject({
    api_key: ModelApiKey.optional().describe(
      'API key of the model. The server deletes the key when the eval or collection ends, so send it again.',
    ),
  })
  .meta({ id: 'ModelKey', description: 'The API key of a model.' })
  .default({})

export const IdempotencyHeaders = z.looseObject({
  'idempotency-key': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe(
      'Key of your choice that makes retries safe: a repeated request with the same key and body within an hour returns the first response and changes nothing. The same key with another body is rejected with 400 `invalid_request`.',
    ),
})

/** Sends server-sent events as they occur. */
export function sendEventStream<Reply extends Pick<FastifyReply, 'headers' | 'send'>>(
  events: AsyncIterable<string>,
  reply: Reply,
) {
  return reply.headers(EVENT_STREAM_HEADERS).send(Readable.from(events, { objectMode: true, highWaterMark: 1 }))
}

/** A signal that aborts when the server begins to close, so that event streams end. */
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
