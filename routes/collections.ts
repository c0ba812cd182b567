/** /runs/{run}/collect: a model completes a run's items, and the groups are scored like submitted ones. */
import { z } from 'zod'
import { CollectionId, CollectionInput, CollectionView } from '../src/contract/collection.ts'
import { RunName } from '../src/contract/rollout.ts'
import type { EvalsFeature } from '../src/features/evals/index.ts'
import type { App } from '../src/http/app.ts'
import { ifMatchHeader } from '../src/http/conditional-headers.ts'
import { addGenerationJobRoutes, ModelKeyBody } from './generation-jobs.ts'

export function addCollectionRoutes(app: App, { collections }: EvalsFeature): void {
  addGenerationJobRoutes(app, collections, {
    path: '/runs/:run/collect',
    pathParams: z.strictObject({ run: RunName }),
    params: z.strictObject({ run: RunName, id: CollectionId }),
    tag: 'collection',
    name: 'Collection',
    noun: 'a collection',
    unknownCode: 'unknown_collection',
    input: CollectionInput,
    view: CollectionView,
    start: {
      description:
        'A model completes the next items of the run, `group_size` times each, and the server submits the completions as groups. Send an `Idempotency-Key` if you retry.',
      problems: [
        'invalid_request',
        'run_changed',
        'run_recreated',
        'idempotency_in_progress',
        'too_many_active',
        'redis_unavailable',
      ],
    },
    list: {
      summary: 'List the collections of a run',
      description: 'Returns collections, newest first.',
      headers: z.looseObject(ifMatchHeader),
      response: z
        .strictObject({ collections: z.array(CollectionView).describe('Collections, newest first.') })
        .meta({ id: 'CollectionList', description: 'Collections of the run.' }),
      field: 'collections',
      problems: ['unknown_run', 'run_recreated', 'redis_unavailable'],
    },
    cancel: { description: 'Stops the collection. Groups that were submitted stay.' },
    resume: {
      description: 'Continues a collection that was cancelled or has failed.',
      body: ModelKeyBody,
      listApiKeys: ({ api_key }) => [api_key],
      problems: ['unknown_collection', 'too_many_active', 'redis_unavailable'],
    },
  })
}
