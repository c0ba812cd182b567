/** /runs/{run}/collect: a model completes a run's items, and the groups are scored like submitted ones. */

import { CollectionId, CollectionInput, CollectionView } from '@reasoning-gym-server/contract/collection'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import { textResponse } from '@reasoning-gym-server/contract/text-response'
import { z } from 'zod'
import type { EvalsFeature } from '../src/features/evals/index.ts'
import type { App } from '../src/http/app.ts'
import { ifMatchHeader } from '../src/http/conditional-headers.ts'
import { problemResponses } from '../src/http/errors/problem-responses.ts'
import {
  createShutdownSignal,
  IdempotencyHeaders,
  LastEventIdHeaders,
  ModelKeyBody,
  sendEventStream,
} from './eval-responses.ts'

const RunParams = z.strictObject({ run: RunName })
const CollectionParams = z.strictObject({
  run: RunName,
  id: CollectionId,
})

export function addCollectionRoutes(app: App, { collections }: EvalsFeature): void {
  const closing = createShutdownSignal(app)

  app.post(
    '/runs/:run/collect',
    {
      schema: {
        operationId: 'startCollection',
        tags: ['collection'],
        summary: 'Start a collection',
        description:
          'A model completes the next items of the run, `group_size` times each, and the server submits the completions as groups. Send an `Idempotency-Key` if you retry.',
        params: RunParams,
        headers: IdempotencyHeaders.extend(ifMatchHeader),
        body: CollectionInput,
        response: {
          202: CollectionView,
          ...problemResponses(
            'invalid_request',
            'run_changed',
            'run_recreated',
            'idempotency_in_progress',
            'too_many_active',
            'redis_unavailable',
          ),
        },
      },
    },
    async ({ params: { run }, body, headers, caller }, reply) => {
      const view = await collections.create(run, body, {
        caller,
        idempotencyKey: headers['idempotency-key'],
        condition: headers['if-match'],
      })
      return reply.status(202).header('location', `/runs/${run}/collect/${view.id}`).send(view)
    },
  )

  app.get(
    '/runs/:run/collect',
    {
      schema: {
        operationId: 'listCollections',
        tags: ['collection'],
        summary: 'List the collections of a run',
        description: 'Returns collections, newest first.',
        params: RunParams,
        headers: z.looseObject(ifMatchHeader),
        response: {
          200: z
            .strictObject({ collections: z.array(CollectionView).describe('Collections, newest first.') })
            .meta({ id: 'CollectionList', description: 'Collections of the run.' }),
          ...problemResponses('unknown_run', 'run_recreated', 'redis_unavailable'),
        },
      },
    },
    async ({ params, headers }) => ({ collections: await collections.list(params.run, headers['if-match']) }),
  )

  app.get(
    '/runs/:run/collect/:id',
    {
      schema: {
        operationId: 'getCollection',
        tags: ['collection'],
        summary: 'Get a collection',
        params: CollectionParams,
        response: { 200: CollectionView, ...problemResponses('unknown_collection', 'redis_unavailable') },
      },
    },
    ({ params: { run, id } }) => collections.require(run, id),
  )

  app.get(
    '/runs/:run/collect/:id/events',
    {
      schema: {
        operationId: 'streamCollectionEvents',
        tags: ['collection'],
        summary: 'Stream the progress of a collection',
        description: 'Sends server-sent events: progress, then the result. `Last-Event-ID` resumes the stream.',
        params: CollectionParams,
        headers: LastEventIdHeaders,
        response: {
          200: textResponse('text/event-stream', 'Server-sent events.'),
          ...problemResponses('unknown_collection', 'redis_unavailable'),
        },
      },
    },
    async ({ params: { run, id }, headers }, reply) => {
      const events = await collections.streamEvents(run, id, headers['last-event-id'] ?? '', closing)
      return sendEventStream(events, reply)
    },
  )

  app.delete(
    '/runs/:run/collect/:id',
    {
      schema: {
        operationId: 'cancelCollection',
        tags: ['collection'],
        summary: 'Cancel a collection',
        description: 'Stops the collection. Groups that were submitted stay.',
        params: CollectionParams,
        response: { 200: CollectionView, ...problemResponses('unknown_collection', 'redis_unavailable') },
      },
    },
    ({ params: { run, id } }) => collections.cancel(run, id),
  )

  app.post(
    '/runs/:run/collect/:id/resume',
    {
      schema: {
        operationId: 'resumeCollection',
        tags: ['collection'],
        summary: 'Resume a collection',
        description: 'Continues a collection that was cancelled or has failed.',
        params: CollectionParams,
        body: ModelKeyBody,
        response: {
          202: CollectionView,
          ...problemResponses('unknown_collection', 'too_many_active', 'redis_unavailable'),
        },
      },
    },
    async ({ params: { run, id }, body, caller }, reply) =>
      reply.status(202).send(await collections.resume(run, id, caller, body.api_key)),
  )
}
