/** What the routes of evals and collections share. */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { OpenEval } from '../src/evals/view.ts'
import { EVENT_STREAM_HEADERS } from '../src/event-stream.ts'
import { Fault } from '../src/faults.ts'
import { type Caller, mayUse } from '../src/words/caller.ts'
import { EvalId, ModelKey } from '../src/words/eval.ts'
import type { Services } from './context.ts'

export const OfEval = z.strictObject({ id: EvalId })

export const KeyForModel = z
  .strictObject({
    api_key: ModelKey.optional().describe('Of the model: the first one was forgotten'),
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
export async function openEval({ evals }: Pick<Services, 'evals'>, id: string, caller: Caller): Promise<OpenEval> {
  const found = await evals.find(id)
  const { run } = found.spec
  if (run !== null && !mayUse(caller, run)) {
    throw new Fault('forbidden', 'This key is bound to other runs than the eval’s')
  }
  return found
}

/** Answers with server-sent events as they come. */
export function sendEvents<Reply extends Pick<FastifyReply, 'headers' | 'send'>>(
  events: AsyncIterable<string>,
  reply: Reply,
) {
  return reply.headers(EVENT_STREAM_HEADERS).send(Readable.from(events))
}

/** Ends the streams of a server that is closing. */
export function closingSignal(app: {
  addHook(name: 'preClose', hook: (done: () => void) => void): unknown
}): AbortSignal {
  const closing = new AbortController()
  app.addHook('preClose', (done) => {
    closing.abort()
    done()
  })
  return closing.signal
}
