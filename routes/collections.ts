/** /runs/{run}/collect: a run's items answered by a model, and scored like posted groups. */
import { z } from 'zod'
import { CollectionId, CollectionInput, CollectionView } from '../src/contract/collection.ts'
import { RunName } from '../src/contract/rollout.ts'
import { textResponse } from '../src/contract/text-response.ts'
import type { EvalsFeature } from '../src/features/evals/index.ts'
import { streamJobEvents } from '../src/features/evals/job-event-stream.ts'
import type { App } from '../src/http/app.ts'
import { problemResponses } from '../src/http/errors/problem-responses.ts'
import { createShutdownSignal, IdempotencyHeaders, ModelKeyBody, sendEventStream } from './eval-responses.ts'

const RunParams = z.strictObject({ run: RunName })
const CollectionParams = z.strictObject({ run: RunName, id: CollectionId })

export function addCollectionRoutes(
  app: App,
  { collections, idempotency, generationJobs, concurrencyQuota }: EvalsFeature,
): void {
  const closing = createShutdownSignal(app)

  app.post(
    '/runs/:run/collect',
    {
      schema: {
        operationId: 'startCollection',
        tags: ['collection'],
        summary: 'Asks a model for group_size completions of each of the run’s next items, and posts them as groups',
        params: RunParams,
        headers: IdempotencyHeaders,
        body: CollectionInput,
        response: {
          202: CollectionView,
          ...problemResponses(
            'invalid_request',
            'run_changed',
            'idempotency_in_progress',
            'too_many_active',
            'redis_unavailable',
          ),
        },
      },
    },
    async ({ params: { run }, body, headers, caller }, reply) => {
      const ask = { scope: `collect ${run} ${caller.id}`, key: headers['idempotency-key'], body }
      const answer = await idempotency.runOnce(ask, async (token) => {
        const id = `collect-${token}`
        const made = await concurrencyQuota.runWithinQuota(caller.id, id, () => collections.start(id, run, body))
        return { status: 202, body: await collections.buildView(made) }
      })
      return reply.status(202).header('location', `/runs/${run}/collect/${answer.body.id}`).send(answer.body)
    },
  )

  app.get(
    '/runs/:run/collect',
    {
      schema: {
        operationId: 'listCollections',
        tags: ['collection'],
        summary: 'The run’s collections, newest first',
        params: RunParams,
        response: {
          200: z.strictObject({ collections: z.array(CollectionView) }),
          ...problemResponses('unknown_run', 'redis_unavailable'),
        },
      },
    },
    async ({ params }) => ({ collections: await collections.list(params.run) }),
  )

  app.get(
    '/runs/:run/collect/:id',
    {
      schema: {
        operationId: 'getCollection',
        tags: ['collection'],
        summary: 'A collection as it stands',
        params: CollectionParams,
        response: { 200: CollectionView, ...problemResponses('unknown_collection', 'redis_unavailable') },
      },
    },
    async ({ params: { run, id } }) => collections.buildView(await collections.require(run, id)),
  )

  app.get(
    '/runs/:run/collect/:id/events',
    {
      schema: {
        operationId: 'streamCollectionEvents',
        tags: ['collection'],
        summary: 'Server-sent events: progress, then the result; Last-Event-ID resumes',
        params: CollectionParams,
        headers: z.looseObject({ 'last-event-id': z.string().max(64).optional() }),
        response: {
          200: textResponse('text/event-stream', 'Events'),
          ...problemResponses('unknown_collection', 'redis_unavailable'),
        },
      },
    },
    async ({ params: { run, id }, headers }, reply) => {
      await collections.require(run, id)
      const events = streamJobEvents(generationJobs, id, headers['last-event-id'] ?? '', closing)
      return sendEventStream(events, reply)
    },
  )

  app.delete(
    '/runs/:run/collect/:id',
    {
      schema: {
        operationId: 'cancelCollection',
        tags: ['collection'],
        summary: 'Cancels a collection; groups that were posted stay posted',
        params: CollectionParams,
        response: { 200: CollectionView, ...problemResponses('unknown_collection', 'redis_unavailable') },
      },
    },
    async ({ params: { run, id } }) => collections.buildView(await collections.cancel(run, id)),
  )

  app.post(
    '/runs/:run/collect/:id/resume',
    {
      schema: {
        operationId: 'resumeCollection',
        tags: ['collection'],
        summary: 'Goes on with a collection that was cancelled or has failed',
        params: CollectionParams,
        body: ModelKeyBody,
        response: {
          202: CollectionView,
          ...problemResponses('unknown_collection', 'too_many_active', 'redis_unavailable'),
        },
      },
    },
    async ({ params: { run, id }, body, caller }, reply) => {
      const resume = () => collections.resume(run, id, body.api_key)
      return reply
        .status(202)
        .send(await collections.buildView(await concurrencyQuota.runWithinQuota(caller.id, id, resume)))
    },
  )
}
