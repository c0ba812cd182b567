/** Implements the operations of the API on collections. GenerationJobs has what collections share with evals. */
import type { Caller } from '../../contract/caller.ts'
import { type CollectionInput, CollectionView } from '../../contract/collection.ts'
import { ServiceError } from '../../contract/errors.ts'
import { isActive } from '../../contract/eval.ts'
import type { RunCondition } from '../../contract/run.ts'
import type { Runs } from '../runs/runs.ts'
import { buildProgress, buildTimes } from './eval-view.ts'
import type { JobOfKind } from './generation-job-record.ts'
import type { CreateRequest, GenerationJobs, JobDescription } from './generation-jobs.ts'
import type { EgressPolicy } from './model-client/egress-policy.ts'
import { buildModelSpec } from './model-spec.ts'
import { listFailures } from './sample-failures.ts'

/** Default temperature, the usual one for training rollouts. */
const DEFAULT_TEMPERATURE = 1

interface CollectionsDeps {
  jobs: GenerationJobs
  runs: Runs
  egressPolicy: EgressPolicy
}

export class Collections {
  readonly #deps: CollectionsDeps

  constructor(deps: CollectionsDeps) {
    this.#deps = deps
  }

  /**
   * Creates a collection. Throws `too_many_active`, `invalid_request`, and `run_recreated` if the run does not meet the
   * condition.
   */
  async create(run: string, input: CollectionInput, request: CreateRequest): Promise<CollectionView> {
    const { condition } = request
    if (condition !== undefined) await this.#deps.runs.require(run, condition) // a repeated call does not run this
    return this.#deps.jobs.create(request, {
      kind: 'collection',
      input,
      modelApiKey: input.model.api_key,
      scope: run,
      describe: () => this.#describe(run, input, condition),
      buildView: buildCollectionView,
    })
  }

  /** Throws `unknown_collection`. */
  async require(run: string, id: string): Promise<CollectionView> {
    return buildCollectionView(await this.#require(run, id))
  }

  /** Lists collections, newest first. Throws `unknown_run` and `run_recreated`. */
  async list(run: string, condition?: RunCondition): Promise<CollectionView[]> {
    await this.#deps.runs.require(run, condition)
    return (await this.#deps.jobs.list('collection', { run })).map(buildCollectionView)
  }

  /** Cancels a collection. Groups that were already submitted remain in the run. */
  async cancel(run: string, id: string): Promise<CollectionView> {
    await this.#require(run, id)
    return buildCollectionView(await this.#deps.jobs.cancel('collection', id))
  }

  async resume(run: string, id: string, caller: Caller, apiKey: string | undefined): Promise<CollectionView> {
    await this.#require(run, id)
    return buildCollectionView(await this.#deps.jobs.resume('collection', id, { caller, apiKey }))
  }

  async streamEvents(
    run: string,
    id: string,
    lastEventId: string,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<string>> {
    await this.#require(run, id)
    return this.#deps.jobs.streamEvents(id, lastEventId, signal)
  }

  async #require(run: string, id: string): Promise<JobOfKind<'collection'>> {
    const job = await this.#deps.jobs.require('collection', id)
    if (job.spec.run !== run)
      throw new ServiceError('unknown_collection', `The run ${run} has no collection ${JSON.stringify(id)}`)
    return job
  }

  async #describe(
    run: string,
    input: CollectionInput,
    condition: RunCondition | undefined,
  ): Promise<JobDescription<'collection'>> {
    const { runs, egressPolicy } = this.#deps
    const { incarnation, settings } = await runs.getOrCreate(run, condition)
    const { group_size, buffer } = settings
    const temperature = input.temperature === undefined ? DEFAULT_TEMPERATURE : input.temperature
    return {
      spec: {
        kind: 'collection',
        model: await buildModelSpec(input.model, { ...input, temperature }, egressPolicy),
        run,
        incarnation,
        groups: input.groups,
        group_size,
        buffer: input.buffer ?? buffer,
      },
      samples: input.groups * group_size,
      items: [],
    }
  }
}

function buildCollectionView(job: JobOfKind<'collection'>): CollectionView {
  const { run, model, group_size } = job.spec
  return {
    id: job.id,
    run,
    status: job.status,
    waiting_for: isActive(job.status) ? job.waiting_for : null,
    model: { name: model.name, base_url: model.base_url },
    group_size,
    ...buildTimes(job),
    progress: buildProgress(job),
    failures: listFailures(job.failures),
    detail: job.detail,
    result: CollectionView.shape.result.parse(job.result),
  }
}
