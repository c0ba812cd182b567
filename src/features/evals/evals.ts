/** What callers do with an eval: compare it, read its samples, and supply completions for it. */
import type { Caller } from '@reasoning-gym-server/contract/caller'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Eval, EvalComparison, FlippedItem } from '@reasoning-gym-server/contract/eval'
import type { CompletionInput, EvalSample, EvalSamplePage } from '@reasoning-gym-server/contract/eval-sample'
import { isActive } from '@reasoning-gym-server/contract/generation-job'
import type { PromptMessage } from '@reasoning-gym-server/contract/item'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import pMap from 'p-map'
import type { Grader } from '../../grading/grader.ts'
import { mean } from '../../grading/statistics.ts'
import type { ItemWithEntry } from '../items/items.ts'
import { buildPromptMessages } from '../items/prompt.ts'
import type { MeasuredItem, RunEvals } from '../runs/types.ts'
import type { JobAggregator } from './aggregator.ts'
import { computeComparison, type FlippedItemFilter, listFlippedItems, pairItems } from './comparison.ts'
import type { GenerationJobs, JobAddress } from './generation-jobs.ts'
import type { EvalParts } from './job-items.ts'
import type { JobOfKind } from './records.ts'
import {
  buildUnmakeableVerdict,
  encodeSampleOutput,
  gradeSample,
  listFailureCauses,
  type OutputSpace,
  type SampleOutput,
  StoredSampleVerdict,
} from './samples/output.ts'
import { getSample, listSamplePage, type SamplePageQuery } from './samples/pages.ts'
import type { RecordSampleResult } from './samples/repository.ts'
import { streamEvalSamples, streamVerdicts } from './samples/stream.ts'
import { ITEM_CONCURRENCY, ItemChangedError, type SuiteItem } from './suites.ts'

interface EvalsDeps extends EvalParts {
  jobs: GenerationJobs<'eval'>
  aggregator: JobAggregator
  externalCompletions: ExternalCompletions
}

export class Evals {
  readonly jobs: GenerationJobs<'eval'>
  readonly #deps: EvalsDeps

  constructor(deps: EvalsDeps) {
    this.jobs = deps.jobs
    this.#deps = deps
  }

  /** Ends an eval of external completions. Samples without a completion count as missing. */
  async finish(address: JobAddress): Promise<Eval> {
    const { id, spec } = await this.jobs.require(address)
    if (spec.model)
      throw new ServiceError(
        'invalid_request',
        'The server calls the model of this eval, so the eval ends without this call. Use DELETE to cancel it.',
      )
    await this.#deps.aggregator.finalize(id, 'done')
    return this.jobs.requireView(address)
  }

  async compare(idA: string, idB: string, caller: Caller): Promise<EvalComparison> {
    const [a, b] = await this.#requireBoth(idA, idB, caller)
    return computeComparison(a, b, this.#deps)
  }

  /** Lists the items that one eval answers correctly and the other does not. */
  async listFlippedItems(
    { a: idA, b: idB, ...filter }: FlippedItemFilter & { a: string; b: string },
    caller: Caller,
  ): Promise<FlippedItem[]> {
    const [a, b] = await this.#requireBoth(idA, idB, caller)
    return listFlippedItems(await pairItems(a, b, this.#deps), filter)
  }

  #requireBoth(a: string, b: string, caller: Caller): Promise<[JobOfKind<'eval'>, JobOfKind<'eval'>]> {
    return Promise.all([this.jobs.require({ id: a, caller }), this.jobs.require({ id: b, caller })])
  }

  /** Returns the measurements that a run may start from. Throws `unknown_eval`, `forbidden`, and the errors of `measureEval`. */
  measure: RunEvals['measure'] = async (id, caller) => {
    const job = await this.jobs.require({ id, caller })
    return { scoring: job.spec.grading_rules.scoring, items: await measureEval(job, this.#deps) }
  }

  async streamSamples(address: JobAddress): Promise<AsyncGenerator<EvalSample>> {
    return streamEvalSamples(this.#deps, await this.jobs.require(address))
  }

  /** Returns one page of samples. Throws `forbidden` for expected answers that the caller may not see. */
  async listSamples(address: JobAddress, query: SamplePageQuery): Promise<EvalSamplePage> {
    return listSamplePage(this.#deps, await this.jobs.require(address), query, address.caller)
  }

  async getSample(address: JobAddress, sampleId: string): Promise<EvalSample> {
    return getSample(this.#deps, await this.jobs.require(address), sampleId, address.caller)
  }

  async listSamplePrompts(address: JobAddress, share: SampleShare): Promise<SamplePrompt[]> {
    return this.#deps.externalCompletions.listSamplePrompts(await this.jobs.require(address), share)
  }

  /** Records completions. `new` counts those of samples that had none. */
  async submitCompletions(
    address: JobAddress,
    completions: CompletionInput[],
  ): Promise<Pick<Eval, 'id' | 'status' | 'progress'> & { new: number }> {
    const job = await this.jobs.require(address)
    if (!isActive(job.status) && job.status !== 'done')
      throw new ServiceError(
        'invalid_request',
        `This eval is ${job.status} and accepts no more completions. Start another one.`,
      )
    const added = isActive(job.status) ? await this.#deps.externalCompletions.submit(job, completions) : 0
    const { id, status, progress } = await this.jobs.requireView(address)
    return { new: added, id, status, progress }
  }
}

/**
 * Returns the scored items in eval order, without items of earlier ladders, whose difficulties now have another
 * meaning. Throws `invalid_request` if there are none or the eval has not ended.
 */
async function measureEval(
  job: JobOfKind<'eval'>,
  { openItems, samples, ladders }: EvalsDeps,
): Promise<MeasuredItem[]> {
  if (isActive(job.status)) throw cannotStart(`The eval ${job.id} has not ended`, 'use it once its status is done')
  const { items: suiteItems, indexOf } = await openItems(job).list()
  const recipes = suiteItems.map(({ id }) => decodeItemId(id))
  const scored = recipes.map((): { score: number; isFormatted: boolean }[] => [])
  for await (const [sample, verdict] of streamVerdicts(samples, job)) {
    const { score = null, answer } = verdict ?? {}
    if (score !== null) scored[indexOf(sample)]?.push({ score, isFormatted: answer !== null })
  }
  const items = recipes.flatMap((recipe, k): MeasuredItem[] => {
    const { task, difficulty } = recipe
    const own = scored[k] ?? []
    if (difficulty === null || own.length === 0 || !ladders.isCurrent(recipe)) return []
    const formatted = mean(own.map(({ isFormatted }) => Number(isFormatted)))
    return [{ task, difficulty, score: mean(own.map(({ score }) => score)), samples: own.length, formatted }]
  })
  if (items.length === 0)
    throw cannotStart(
      `The eval ${job.id} has no scored items on the current ladders, or they have expired. Start from another eval.`,
      'must be an eval on the suite `frontier` or `ladder-3`, or on items with a difficulty',
    )
  return items
}

function cannotStart(message: string, hint: string): ServiceError {
  return new ServiceError('invalid_request', message, { errors: [{ path: 'curriculum_start.eval', message: hint }] })
}

/** Stands for an item that has expired, so that it is rejected as an unknown item. */
const EXPIRED_ITEM: SuiteItem = { id: '', questionHash: undefined }

export interface SamplePrompt {
  sample_id: string
  item_id: string
  messages: PromptMessage[]
}

/** Selects `count` samples of one rank's share, from position `from` of the share. */
export interface SampleShare {
  rank: number
  ranks: number
  from: number
  count: number
}

interface ExternalCompletionsDeps extends Pick<EvalParts, 'samples' | 'openItems' | 'suites'> {
  grader: Grader
  outputSpace: OutputSpace
  aggregator: JobAggregator
}

/** Handles evals whose completions the caller supplies: lists the prompts of samples, grades and records what is submitted. */
export class ExternalCompletions {
  readonly #deps: ExternalCompletionsDeps

  constructor(deps: ExternalCompletionsDeps) {
    this.#deps = deps
  }

  /**
   * Lists the prompts of a share. The shares of all ranks are disjoint and cover the eval, except for samples whose
   * item the library cannot make.
   */
  async listSamplePrompts(job: JobOfKind<'eval'>, { rank, ranks, from, count }: SampleShare): Promise<SamplePrompt[]> {
    const { id, spec, total } = job
    const share: number[] = []
    for (let k = rank + from * ranks; k < total && share.length < count; k += ranks) share.push(k)
    const items = await this.#deps.openItems(job).at(share)
    const buildPrompt = async (sample: number, k: number): Promise<SamplePrompt[]> => {
      const suiteItem = items[k] ?? EXPIRED_ITEM
      try {
        const messages = buildPromptMessages(await this.#getOrCreateItem(id, suiteItem), spec.prompt)
        return [{ sample_id: `s${sample}`, item_id: suiteItem.id, messages }]
      } catch (error) {
        const verdict = buildUnmakeableVerdict(error, suiteItem)
        if (!verdict) throw error
        await this.#finalizeAfterLast(id, [
          await this.#deps.samples.record(id, sample, { verdict, score: null, failures: listFailureCauses(verdict) }),
        ])
        return []
      }
    }
    return (await pMap(share, buildPrompt, { concurrency: ITEM_CONCURRENCY })).flat()
  }

  /** Returns how many were new: only the first completion of a sample counts. The last sample ends the eval. */
  async submit(job: JobOfKind<'eval'>, completions: CompletionInput[]): Promise<number> {
    if (job.spec.model)
      throw new ServiceError(
        'invalid_request',
        'The server calls the model of this eval itself, so it accepts no completions. Start an eval with "model": null to post them.',
      )
    const numbers = completions.map(({ sample_id }) => Number(sample_id.slice(1)))
    numbers.forEach((sample, k) => {
      if (sample >= job.total) throw unknownSampleError(`completions.${k}.sample_id`, job)
    })
    const items = await this.#deps.openItems(job).at(numbers)
    const submitOne = (completion: CompletionInput, k: number) =>
      this.#submitOne(job, numbers[k] ?? 0, items[k] ?? EXPIRED_ITEM, completion)
    const results = await pMap(completions, submitOne, { concurrency: ITEM_CONCURRENCY })
    await this.#finalizeAfterLast(job.id, results)
    return results.filter((result) => result.kind === 'recorded' && result.isNew).length
  }

  async #finalizeAfterLast(id: string, results: RecordSampleResult[]): Promise<void> {
    if (results.some((result) => result.kind === 'recorded' && result.done >= result.total))
      await this.#deps.aggregator.finalize(id, 'done')
  }

  /** Ends the eval if an item differs from the frozen one, because its scores would have another meaning. */
  async #getOrCreateItem(jobId: string, suiteItem: SuiteItem): Promise<ItemWithEntry> {
    try {
      return await this.#deps.suites.getOrCreateItem(suiteItem)
    } catch (error) {
      if (!(error instanceof ItemChangedError)) throw error
      await this.#deps.aggregator.finalize(jobId, 'failed', error.message)
      throw new ServiceError('engine_version_mismatch', error.message, { cause: error })
    }
  }

  async #submitOne(
    { id, spec, done, total }: JobOfKind<'eval'>,
    sample: number,
    suiteItem: SuiteItem,
    completion: CompletionInput,
  ): Promise<RecordSampleResult> {
    const { samples, outputSpace, grader } = this.#deps
    const [recorded] = await samples.listVerdicts(StoredSampleVerdict, id, sample, sample + 1)
    if (recorded) return { kind: 'recorded', isNew: false, done, total, sameFailures: 0 }
    const item = await this.#getOrCreateItem(id, suiteItem)
    const output = toSampleOutput(completion)
    const encoded = await encodeSampleOutput(output)
    const isKept = await outputSpace.reserve(id, encoded.byteLength)
    const verdict = await gradeSample(grader, { output, item, suiteItem, rules: spec.grading_rules, isKept })
    const result = await samples.record(id, sample, {
      verdict,
      score: verdict.score,
      failures: listFailureCauses(verdict),
    })
    if (result.kind === 'recorded' && result.isNew && isKept) await samples.storeOutput(id, sample, { output: encoded })
    return result
  }
}

function toSampleOutput({ completion, messages, finish_reason, length_tokens }: CompletionInput): SampleOutput {
  return {
    kind: 'external',
    finish_reason: finish_reason ?? null,
    ...(completion !== undefined && { completion }),
    ...(messages && { messages }),
    ...(length_tokens !== undefined && { length_tokens }),
  }
}

function unknownSampleError(path: string, { id, total }: JobOfKind<'eval'>): ServiceError {
  const message = `must be a sample of the eval ${id}: s0 to s${total - 1}`
  return new ServiceError('invalid_request', `The field ${path} ${message}. GET /eval/{id}/items lists the samples.`, {
    errors: [{ path, message }],
  })
}
