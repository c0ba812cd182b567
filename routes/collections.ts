/** /runs/{run}/collect: a model completes a run's items, and the groups are scored like submitted ones. */

import { CollectionId, CollectionInput, CollectionView } from '@reasoning-gym-server/contract/collection'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import { z } from 'zod'
import type { EvalsFeature } from '../src/features/evals/index.ts'
import type { App } from '../src/http/app.ts'
import { IfMatchHeaders } from '../src/http/request-headers.ts'
import { addGenerationJobRoutes, EXAMPLE_MODEL } from './generation-jobs.ts'

export function addCollectionRoutes(app: App, { collections }: EvalsFeature): void {
  addGenerationJobRoutes(app, collections, {
    path: '/runs/:run/collect',
    pathParams: z.strictObject({ run: RunName }),
    params: z.strictObject({ run: RunName, id: CollectionId }),
    tag: 'collection',
    name: 'Collection',
    noun: 'a collection',
    unknownCode: 'unknown_collection',
    writers: 'trainers',
    input: CollectionInput,
    view: CollectionView,
    start: {
      description:
        'A model completes the next items of the run, `group_size` times each, and the server submits the completions as groups. Send an `Idempotency-Key` if you retry.',
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
    list: {
      summary: 'List the collections of a run',
      description: 'Returns collections, newest first.',
      headers: IfMatchHeaders,
      response: z
        .strictObject({ collections: z.array(CollectionView).describe('Collections, newest first.') })
        .meta({ id: 'CollectionList', description: 'Collections of the run.' }),
      field: 'collections',
    },
    get: {
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
    cancel: { description: 'Stops the collection. Groups that were submitted stay.' },
    resume: {
      description: 'Continues a collection that was cancelled or has failed.',
      examples: { bodies: { 'Without a key': {} } },
    },
  })
}
