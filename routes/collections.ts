/** /runs/{run}/collect: a model completes a run's items, and the groups are scored like submitted ones. */

import { CollectionId, CollectionInput, CollectionView } from '@reasoning-gym-server/contract/collection'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import { z } from 'zod'
import type { EvalsFeature } from '../src/features/evals/index.ts'
import type { App } from '../src/http/app.ts'
import { IfMatchHeaders } from '../src/http/request-headers.ts'
import { addGenerationJobRoutes } from './generation-jobs.ts'

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
    get: {},
    cancel: { description: 'Stops the collection. Groups that were submitted stay.' },
    resume: {
      description: 'Continues a collection that was cancelled or has failed.',
    },
  })
}
