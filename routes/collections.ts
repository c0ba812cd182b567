/** /runs/{run}/collect: a model completes a run's items, and the groups are scored like submitted ones. */

import { CollectionId, CollectionInput, CollectionView } from '@reasoning-gym-server/contract/collection'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import { textResponse } from '@reasoning-gym-server/contract/text-response'
import { z } from 'zod'
import type { EvalsFeature } from '../src/features/evals/index.ts'
import type { App } from '../src/http/app.ts'
import { ifMatchHeader } from '../src/http/conditional-headers.ts'
import {
  createShutdownSignal,
  EXAMPLE_MODEL,
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
      config: { access: 'trainers' },
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
        },
        problems: ['run_changed', 'idempotency_in_progress', 'too_many_active'],
        examples: {
          bodies: { 'Two groups': { model: EXAMPLE_MODEL, groups: 2, max_tokens: 1024, timeout_s: 5, retries: 0 } },
          response: {
            id: 'collect-017497aba082daf7b3b6',
            run: 'demo',
            status: 'queued',
            waiting_for: null,
            model: { name: 'mock', base_url: 'http://127.0.0.1:9000/v1' },
            group_size: 16,
            created_at: '2026-11-23T22:16:30.279Z',
            started_at: null,
            ended_at: null,
            progress: { done: 0, total: 32, failed: 0, mean_score: null },
            failures: [],
            detail: null,
            result: null,
          },
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
      config: { access: 'readers' },
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
        },
      },
    },
    async ({ params, headers }) => ({ collections: await collections.list(params.run, headers['if-match']) }),
  )

  app.get(
    '/runs/:run/collect/:id',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'getCollection',
        tags: ['collection'],
        summary: 'Get a collection',
        params: CollectionParams,
        response: { 200: CollectionView },
        problems: ['unknown_collection'],
        examples: {
          response: {
            id: 'collect-017497aba082daf7b3b6',
            run: 'demo',
            status: 'done',
            waiting_for: null,
            model: { name: 'mock', base_url: 'http://127.0.0.1:9000/v1' },
            group_size: 16,
            created_at: '2026-11-23T22:16:30.279Z',
            started_at: null,
            ended_at: '2026-11-23T22:16:31.456Z',
            progress: { done: 32, total: 32, failed: 0, mean_score: 0.65625 },
            failures: [],
            detail: null,
            result: {
              groups: 2,
              scored: 2,
              failed: 0,
              queued: 0,
              destinations: { buffered: 2 },
              mean_score: 0.65625,
              failures: [],
            },
          },
        },
      },
    },
    ({ params: { run, id } }) => collections.require(run, id),
  )

  app.get(
    '/runs/:run/collect/:id/events',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'streamCollectionEvents',
        tags: ['collection'],
        summary: 'Stream the progress of a collection',
        description: 'Sends server-sent events: progress, then the result. `Last-Event-ID` resumes the stream.',
        params: CollectionParams,
        headers: LastEventIdHeaders,
        response: {
          200: textResponse('text/event-stream', 'Server-sent events.'),
        },
        problems: ['unknown_collection'],
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
      config: { access: 'trainers' },
      schema: {
        operationId: 'cancelCollection',
        tags: ['collection'],
        summary: 'Cancel a collection',
        description: 'Stops the collection. Groups that were submitted stay.',
        params: CollectionParams,
        response: { 200: CollectionView },
        problems: ['unknown_collection'],
      },
    },
    ({ params: { run, id } }) => collections.cancel(run, id),
  )

  app.post(
    '/runs/:run/collect/:id/resume',
    {
      config: { access: 'trainers' },
      schema: {
        operationId: 'resumeCollection',
        tags: ['collection'],
        summary: 'Resume a collection',
        description: 'Continues a collection that was cancelled or has failed.',
        params: CollectionParams,
        body: ModelKeyBody,
        response: {
          202: CollectionView,
        },
        problems: ['unknown_collection', 'too_many_active'],
        examples: { bodies: { 'Without a key': {} } },
      },
    },
    async ({ params: { run, id }, body, caller }, reply) =>
      reply.status(202).send(await collections.resume(run, id, caller, body.api_key)),
  )
}
