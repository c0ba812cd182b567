/** Implements the operations of the API on evals. GenerationJobs has what evals share with collections. */
import type { Caller } from '@reasoning-gym-server/contract/caller'
import { canAccessRun } from '@reasoning-gym-server/contract/caller'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import {
  type CompletionInput,
  type EvalInput,
  type EvalSample,
  type EvalSamplePage,
  type EvalSummary,
  type EvalView,
  isActive,
} from '@reasoning-gym-server/contract/eval'
import type { RunEvals } from '../runs/frontier/curriculum-start.ts'
import type { TaskCards } from '../tasks/task-cards.ts'
import { type Comparison, computeComparison } from './comparison.ts'
import type { EvalAggregator } from './eval-aggregator.ts'
import type { EvalItemCache } from './eval-item-cache.ts'
import { measureEval } from './eval-measurements.ts'
import { pairItems } from './eval-pairing.ts'
import { buildEvalSpec, type EvalSpecBuilderDeps } from './eval-spec-builder.ts'
import { buildEvalSummary, buildEvalView, hasLabel, hasWords } from './eval-view.ts'
import type { ExternalCompletions, SamplePrompt, SampleShare } from './external-completions.ts'
import { type FlippedItem, type FlippedItemFilter, listFlippedItems } from './flipped-items.ts'
import type { JobOfKind } from './generation-job-record.ts'
import type { CreateRequest, GenerationJobs } from './generation-jobs.ts'
import { getSample, listSamplePage, type SamplePageQuery } from './sample-pages.ts'
import type { SampleRepository } from './sample-repository.ts'
import { streamEvalSamples } from './sample-stream.ts'
import { encodeSuiteItem } from './suites.ts'

export interface EvalFilter {
  run?: string | undefined
  suite?: string | undefined
  label?: string | undefined
  model?: string | undefined
  /** Words that the ID, model, suite, run, status or labels contain. */
  q?: string | undefined
  limit: number
}

interface EvalsDeps extends EvalSpecBuilderDeps {
  jobs: GenerationJobs
  samples: SampleRepository
  items: EvalItemCache
  aggregator: EvalAggregator
  cards: TaskCards
  externalCompletions: ExternalCompletions
}

export class Evals {
  readonly #deps: EvalsDeps

  constructor(deps: EvalsDeps) {
    this.#deps = deps
  }

  /**
   * Creates an eval. Throws `too_many_active`, `invalid_request`, `unknown_suite`, `run_recreated` if the run does not
   * meet the condition, and the errors that reject the items of a custom suite.
   */
  async create(input: EvalInput, request: CreateRequest): Promise<EvalView> {
    const { condition } = request
    // a repeated call does not run this
    if (condition !== undefined && input.run !== undefined) await this.#deps.runs.require(input.run, condition)
    return this.#deps.jobs.create(request, {
      kind: 'eval',
      input,
      modelApiKey: input.model?.api_key,
      scope: '',
      describe: async () => {
        const { spec, items } = await buildEvalSpec(input, condition, this.#deps)
        return { spec, samples: spec.suite.items * spec.samples_per_item, items: items.map(encodeSuiteItem) }
      },
      buildView: buildEvalView,
    })
  }

  /** Returns the eval. Throws `unknown_eval`, or `forbidden` if the caller's key is bound to other runs. */
  async require(id: string, caller: Caller): Promise<JobOfKind<'eval'>> {
    const job = await this.#deps.jobs.require('eval', id)
    const { run } = job.spec
    if (run !== null && !canAccessRun(caller, run))
      throw new ServiceError(
        'forbidden',
        `This API key may not access the run ${run}, to which the eval belongs. Use a key that is bound to it, or an unbound key.`,
      )
    return job
  }

  async requireView(id: string, caller: Caller): Promise<EvalView> {
    return buildEvalView(await this.require(id, caller))
  }

  /** Lists evals, newest first. */
  async list({ run, suite, label, model, q = '', limit }: EvalFilter): Promise<EvalSummary[]> {
    const words = q.toLowerCase().split(/\s+/).filter(Boolean)
    const jobs = await this.#deps.jobs.list('eval', {
      run,
      limit,
      accept: (job) =>
        (suite === undefined || suite === job.spec.suite.name) &&
        (label === undefined || hasLabel(job.spec.labels, label)) &&
        (model === undefined || model === job.spec.model?.name) &&
        hasWords(job, words),
    })
    return jobs.map(buildEvalSummary)
  }

  async cancel(id: string, caller: Caller): Promise<EvalView> {
    await this.require(id, caller)
    return buildEvalView(await this.#deps.jobs.cancel('eval', id))
  }

  async resume(id: string, caller: Caller, apiKey: string | undefined): Promise<EvalView> {
    const { spec } = await this.require(id, caller)
    if (!spec.model)
      throw new ServiceError(
        'invalid_request',
        'This eval cannot be resumed: its completions are posted. Submit the missing completions instead.',
      )
    return buildEvalView(await this.#deps.jobs.resume('eval', id, { caller, apiKey }))
  }

  /** Ends an eval of external completions. Samples without a completion count as missing. */
  async finish(id: string, caller: Caller): Promise<EvalView> {
    const { spec } = await this.require(id, caller)
    if (spec.model)
      throw new ServiceError(
        'invalid_request',
        'This eval ends by itself, because the server calls its model. Use DELETE to cancel it.',
      )
    await this.#deps.aggregator.finalize(id, 'done')
    return this.requireView(id, caller)
  }

  async compare(idA: string, idB: string, caller: Caller): Promise<Comparison> {
    const [a, b] = await Promise.all([this.require(idA, caller), this.require(idB, caller)])
    return computeComparison(a, b, this.#deps)
  }

  /** Lists the items that one eval has right and the other wrong. */
  async listFlippedItems(
    { a: idA, b: idB, ...filter }: FlippedItemFilter & { a: string; b: string },
    caller: Caller,
  ): Promise<FlippedItem[]> {
    const [a, b] = await Promise.all([this.require(idA, caller), this.require(idB, caller)])
    return listFlippedItems(await pairItems(a, b, this.#deps), filter)
  }

  /**
   * Returns the measurements that a run may start from. Throws `unknown_eval`, `forbidden`, and the errors of
   * `measureEval`.
   */
  measure: RunEvals['measure'] = async (id, caller) => {
    const job = await this.require(id, caller)
    return { scoring: job.spec.grading_rules.scoring, items: await measureEval(job, this.#deps) }
  }

  async streamEvents(
    id: string,
    caller: Caller,
    lastEventId: string,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<string>> {
    await this.require(id, caller)
    return this.#deps.jobs.streamEvents(id, lastEventId, signal)
  }

  async streamSamples(id: string, caller: Caller): Promise<AsyncGenerator<EvalSample>> {
    return streamEvalSamples(this.#deps.samples, await this.require(id, caller))
  }

  /** Returns one page of samples. Throws `forbidden` for expected answers that the caller may not see. */
  async listSamples(id: string, caller: Caller, query: SamplePageQuery): Promise<EvalSamplePage> {
    return listSamplePage(this.#deps, await this.require(id, caller), query, caller)
  }

  async getSample(id: string, sampleId: string, caller: Caller): Promise<EvalSample> {
    return getSample(this.#deps, await this.require(id, caller), sampleId, caller)
  }

  async listSamplePrompts(id: string, caller: Caller, share: SampleShare): Promise<SamplePrompt[]> {
    return this.#deps.externalCompletions.listSamplePrompts(await this.require(id, caller), share)
  }

  /** Records completions. `new` counts those of samples that had none. */
  async submitCompletions(
    id: string,
    caller: Caller,
    completions: CompletionInput[],
  ): Promise<Pick<EvalView, 'id' | 'status' | 'progress'> & { new: number }> {
    const job = await this.require(id, caller)
    if (!isActive(job.status) && job.status !== 'done')
      throw new ServiceError('invalid_request', `This eval is ${job.status} and accepts no more completions`)
    const added = isActive(job.status) ? await this.#deps.externalCompletions.submit(job, completions) : 0
    const { status, progress } = await this.requireView(id, caller)
    return { new: added, id, status, progress }
  }
}
