/**
 * Handles evals whose completions the caller supplies: lists the prompts of samples, grades and records what is
 * submitted.
 */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { CompletionInput } from '@reasoning-gym-server/contract/eval'
import type { PromptMessage } from '@reasoning-gym-server/contract/item'
import pMap from 'p-map'
import type { Grader } from '../../grading/grader.ts'
import type { ItemWithEntry } from '../items/items.ts'
import { buildPromptMessages } from '../items/prompt.ts'
import { type EvalAggregator, ITEM_CONCURRENCY } from './eval-aggregator.ts'
import { type EvalItemCache, ItemChangedError } from './eval-item-cache.ts'
import type { JobOfKind } from './generation-job-record.ts'
import { itemIndexOfSample } from './generation-job-spec.ts'
import { buildUnmakeableVerdict, gradeSample } from './grade-sample.ts'
import { encodeSampleOutput, listFailureCauses, type SampleOutput, SampleVerdict } from './sample-output.ts'
import type { RecordSampleResult, SampleRepository } from './sample-repository.ts'
import { parseSuiteItem, type SuiteItem } from './suites.ts'

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
  items: EvalItemCache
  grader: Grader
  aggregator: EvalAggregator
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
  async listSamplePrompts(
    { id, spec, total }: JobOfKind<'eval'>,
    { rank, ranks, from, count }: SampleShare,
  ): Promise<SamplePrompt[]> {
    const lines = await this.#deps.samples.listItems(id)
    const share: number[] = []
    for (let k = rank + from * ranks; k < total && share.length < count; k += ranks) share.push(k)
    const buildPrompt = async (sample: number): Promise<SamplePrompt[]> => {
      const suiteItem = parseSuiteItem(lines[itemIndexOfSample(spec, sample)] ?? '')
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
    const lines = await this.#deps.samples.listItems(job.id)
    const submitOne = (completion: CompletionInput, k: number) => {
      const sample = numbers[k] ?? 0
      const suiteItem = parseSuiteItem(lines[itemIndexOfSample(job.spec, sample)] ?? '')
      return this.#submitOne(job, sample, suiteItem, completion)
    }
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
      return await this.#deps.items.getOrCreate(suiteItem)
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
    const [recorded] = await samples.listVerdicts(SampleVerdict, id, sample, sample + 1)
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
