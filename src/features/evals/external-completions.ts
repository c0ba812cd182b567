/**
 * Handles evals whose completions the caller supplies: lists the prompts of samples, grades and records what is
 * submitted.
 */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { CompletionInput } from '@reasoning-gym-server/contract/eval-sample'
import type { PromptMessage } from '@reasoning-gym-server/contract/item'
import pMap from 'p-map'
import type { Grader } from '../../grading/grader.ts'
import type { ItemWithEntry } from '../items/items.ts'
import { buildPromptMessages } from '../items/prompt.ts'
import type { JobAggregator } from './aggregator.ts'
import type { OpenJobItems } from './job-items.ts'
import type { JobOfKind } from './records.ts'
import {
  buildUnmakeableVerdict,
  encodeSampleOutput,
  gradeSample,
  listFailureCauses,
  type SampleOutput,
  StoredSampleVerdict,
} from './samples/output.ts'
import type { RecordSampleResult, SampleRepository } from './samples/repository.ts'
import { ITEM_CONCURRENCY, ItemChangedError, type SuiteItem, type Suites } from './suites.ts'

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

interface ExternalCompletionsDeps {
  samples: SampleRepository
  openItems: OpenJobItems
  suites: Suites
  grader: Grader
  aggregator: JobAggregator
}

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
        const { question } = await this.#getOrCreateItem(id, suiteItem)
        const messages = buildPromptMessages(question, spec.prompt)
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
    const { samples, grader } = this.#deps
    const [recorded] = await samples.listVerdicts(StoredSampleVerdict, id, sample, sample + 1)
    if (recorded) return { kind: 'recorded', isNew: false, done, total, sameFailures: 0 }
    const item = await this.#getOrCreateItem(id, suiteItem)
    const output = toSampleOutput(completion)
    const verdict = await gradeSample(grader, { output, item, suiteItem, rules: spec.grading_rules })
    const result = await samples.record(id, sample, {
      verdict,
      score: verdict.score,
      failures: listFailureCauses(verdict),
    })
    if (result.kind === 'recorded' && result.isNew) {
      const isStored = await samples.storeOutput(id, sample, encodeSampleOutput(output))
      if (!isStored) await samples.deleteOutputs(id, [sample])
    }
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
  return new ServiceError('invalid_request', `${path}: ${message}`, { errors: [{ path, message }] })
}
