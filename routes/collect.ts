/** /runs/{run}/collect: a run's items answered by a model, and scored like posted groups. */
import { z } from 'zod'
import { eventStream } from '../src/evals/event-stream.ts'
import { CollectionInput, CollectionView } from '../src/words/collection.ts'
import { EvalId } from '../src/words/eval.ts'
import { problems } from '../src/words/problem.ts'
import { RunName } from '../src/words/rollout.ts'
import { textOf } from '../src/words/text.ts'
import type { App, Services } from './context.ts'
import { closingSignal, IdempotencyHeaders, KeyForModel, sendEvents } from './eval-access.ts'

const OfRun = z.strictObject({ run: RunName })
const Params = z.strictObject({ run: RunName, id: EvalId })

export function collect(app: App, { collections, idempotency, samplings, seats }: Services): void {
  const closing = closingSignal(app)

  app.post(
    '/runs/:run/collect',
    {
      schema: {
        tags: ['collection'],
        summary: 'Asks a model for group_size completions of each of the run’s next items, and posts them as groups',
        params: OfRun,
        headers: IdempotencyHeaders,
        body: CollectionInput,
        response: { 202: CollectionView, ...problems('invalid_request', 'rate_limited', 'redis_unavailable') },
      },
    },
    async ({ params: { run }, body, headers, caller }, reply) => {
      const ask = { scope: `collect ${run} ${caller.id}`, key: headers['idempotency-key'], body }
      const answer = await idempotency.once(ask, async (token) => {
        const id = `collect-${token}`
        const made = await seats.seated(caller.id, id, () => collections.begin(id, run, body))
        return { status: 202, body: await collections.view(made) }
      })
      return reply.status(202).header('location', `/runs/${run}/collect/${answer.body.id}`).send(answer.body)
    },
  )

  app.get(
    '/runs/:run/collect',
    {
      schema: {
        tags: ['collection'],
        summary: 'The run’s collections, newest first',
        params: OfRun,
        response: {
          200: z.strictObject({ collections: z.array(CollectionView) }),
          ...problems('unknown_run', 'redis_unavailable'),
        },
      },
    },
    async ({ params }) => ({ collections: await collections.list(params.run) }),
  )

  app.get(
    '/runs/:run/collect/:id',
    {
      schema: {
        tags: ['collection'],
        summary: 'A collection as it stands',
        params: Params,
        response: { 200: CollectionView, ...problems('unknown_eval', 'redis_unavailable') },
      },
    },
    async ({ params: { run, id } }) => collections.view(await collections.find(run, id)),
  )

  app.get(
    '/runs/:run/collect/:id/events',
    {
      schema: {
        tags: ['collection'],
        summary: 'Server-sent events: progress, then the result; Last-Event-ID resumes',
        params: Params,
        headers: z.looseObject({ 'last-event-id': z.string().max(64).optional() }),
        response: { 200: textOf('text/event-stream', 'Events'), ...problems('unknown_eval', 'redis_unavailable') },
      },
    },
    async ({ params: { run, id }, headers }, reply) => {
      await collections.find(run, id)
      const events = eventStream(samplings, id, headers['last-event-id'] ?? '', closing)
      return sendEvents(events, reply)
    },
  )

  app.delete(
    '/runs/:run/collect/:id',
    {
      schema: {
        tags: ['collection'],
        summary: 'Cancels a collection; groups that were posted stay posted',
        params: Params,
        response: { 200: CollectionView, ...problems('unknown_eval', 'redis_unavailable') },
      },
    },
    async ({ params: { run, id } }) => collections.view(await collections.cancel(run, id)),
  )

  app.post(
    '/runs/:run/collect/:id/resume',
    {
      schema: {
        tags: ['collection'],
        summary: 'Goes on with a collection that was cancelled or has failed',
        params: Params,
        body: KeyForModel,
        response: { 202: CollectionView, ...problems('unknown_eval', 'rate_limited', 'redis_unavailable') },
      },
    },
    async ({ params: { run, id }, body, caller }, reply) => {
      const resume = () => collections.resume(run, id, body.api_key)
      return reply.status(202).send(await collections.view(await seats.seated(caller.id, id, resume)))
    },
  )
}
