/** Collections as their users see them: begun, looked at, ended, resumed. */

import type { CollectionInput, CollectionView } from '../../contract/collection.ts'
import { ServiceError } from '../../contract/errors.ts'
import type { Producer } from '../../platform/queue/producer.ts'
import type { Runs } from '../runs/runs.ts'
import type { EvalAggregator } from './eval-aggregator.ts'
import { buildProgress } from './eval-view.ts'
import { buildModelSpec } from './evals.ts'
import type { GenerationJobRepository, StoredGenerationJob } from './generation-job-repository.ts'
import type { CollectionSpec } from './generation-job-spec.ts'
import { enqueueSlotJobs } from './job-slots.ts'
import type { EgressPolicy } from './model-client/egress-policy.ts'

const MAX_SAMPLES = 1_000_000
/** What a rollout is usually made at. */
const DEFAULT_TEMPERATURE = 1

export interface StoredCollection extends StoredGenerationJob {
  spec: CollectionSpec
}

interface CollectionsDeps {
  generationJobs: GenerationJobRepository
  runs: Runs
  producer: Producer
  aggregator: EvalAggregator
  egressPolicy: EgressPolicy
}

export class Collections {
  readonly #deps: CollectionsDeps

  constructor(parts: CollectionsDeps) {
    this.#deps = parts
  }

  /** Begins a collection under an id of the caller's; the same id again is the same collection. */
  async start(id: string, runName: string, input: CollectionInput): Promise<StoredCollection> {
    const { generationJobs: samplings, runs, producer, egressPolicy: reach } = this.#deps
    const { settings } = await runs.getOrCreate(runName)
    const { group_size } = settings
    const total = input.groups * group_size
    if (total > MAX_SAMPLES)
      throw new ServiceError(
        'invalid_request',
        `A collection may have ${MAX_SAMPLES} samples, this one would have ${total}`,
      )
    const temperature = input.temperature === undefined ? DEFAULT_TEMPERATURE : input.temperature
    const spec: CollectionSpec = {
      kind: 'collection',
      model: await buildModelSpec(input.model, { ...input, temperature }, reach),
      run: runName,
      groups: input.groups,
      group_size,
      buffer: input.buffer ?? settings.buffer,
    }
    const secret = input.model.api_key
    await samplings.create('collection', { id, spec, total, items: [], modelApiKey: secret })
    await enqueueSlotJobs(producer, id, spec.model.concurrency, total)
    return this.require(runName, id)
  }

  /** Throws `unknown_collection`. */
  async require(run: string, id: string): Promise<StoredCollection> {
    const found = await this.#deps.generationJobs.get(id)
    const spec = found?.spec as CollectionSpec | undefined // written by begin
    if (!found || spec?.kind !== 'collection' || spec.run !== run)
      throw new ServiceError(
        'unknown_collection',
        `Run ${run} has no collection ${JSON.stringify(id)}, or it is no longer kept`,
      )
    return { ...found, spec }
  }

  /** Newest first. Throws `unknown_run`. */
  async list(run: string): Promise<CollectionView[]> {
    await this.#deps.runs.require(run)
    const views: CollectionView[] = []
    for (const id of await this.#deps.generationJobs.listIds('collection')) {
      const found = await this.#deps.generationJobs.get(id)
      const spec = found?.spec as CollectionSpec | undefined // as above
      if (found && spec?.run === run) views.push(await this.buildView({ ...found, spec }))
    }
    return views
  }

  /** Cancels what is not over. Groups that were posted stay posted. */
  async cancel(run: string, id: string): Promise<StoredCollection> {
    const { status } = await this.require(run, id)
    if (status === 'queued' || status === 'running') await this.#deps.aggregator.finalize(id, 'cancelled')
    return this.require(run, id)
  }

  /** Goes on with a collection that was cancelled or failed: completions that came are not asked for again. */
  async resume(run: string, id: string, apiKey: string | undefined): Promise<StoredCollection> {
    const { generationJobs: samplings, producer } = this.#deps
    const { spec, status, total } = await this.require(run, id)
    if (status === 'cancelled' || status === 'failed') {
      if (!(await samplings.reopen(id, [], apiKey)))
        throw new ServiceError('unknown_collection', `${id} is no longer kept`)
      await enqueueSlotJobs(producer, id, spec.model.concurrency, total)
    }
    return this.require(run, id)
  }

  async buildView({ id, spec, ...found }: StoredCollection): Promise<CollectionView> {
    const { run, model, group_size } = spec
    const active = found.status === 'queued' || found.status === 'running'
    const paused = active && (await this.#deps.generationJobs.getField(id, 'paused')) === 'trainer'
    return {
      id,
      run,
      status: found.status,
      waiting_for: paused ? 'trainer' : null,
      model: { name: model.name, base_url: model.base_url },
      group_size,
      created_at: new Date(found.created).toISOString(),
      started_at: found.started === null ? null : new Date(found.started).toISOString(),
      ended_at: found.ended === null ? null : new Date(found.ended).toISOString(),
      progress: buildProgress(found),
      detail: found.detail,
      result: found.result as CollectionView['result'], // as ResultMaker writes it
    }
  }
}
