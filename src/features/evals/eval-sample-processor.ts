/** Processes one sample of an eval: creates the item, calls the model, then stores, grades and records the output. */
import type { Grader } from '../../grading/grader.ts'
import { buildPromptMessages } from '../items/prompt.ts'
import type { EvalAggregator } from './eval-aggregator.ts'
import type { EvalItemCache } from './eval-item-cache.ts'
import { generateOutput } from './generate-output.ts'
import type { JobOfKind } from './generation-job-record.ts'
import { itemIndexOfSample } from './generation-job-spec.ts'
import { buildUnmakeableVerdict, gradeSample } from './grade-sample.ts'
import type { ModelClients } from './model-clients.ts'
import { decodeSampleOutput, encodeSampleOutput, type SampleVerdict } from './sample-output.ts'
import type { RecordSampleResult, SampleRepository } from './sample-repository.ts'
import { parseSuiteItem } from './suites.ts'

interface EvalSampleProcessorDeps {
  samples: SampleRepository
  items: EvalItemCache
  grader: Grader
  modelClients: ModelClients
  aggregator: EvalAggregator
}

export class EvalSampleProcessor {
  readonly #deps: EvalSampleProcessorDeps

  constructor(deps: EvalSampleProcessorDeps) {
    this.#deps = deps
  }

  /**
   * May run again for the same sample; an output that is already stored is not requested a second time. Throws the signal's
   * reason, an `ItemChangedError`, or an error of the engine.
   */
  async process(job: JobOfKind<'eval'>, sample: number, slot: number, signal: AbortSignal): Promise<void> {
    const { samples, items, grader, modelClients } = this.#deps
    const { model, prompt, samples_per_item, grading_rules } = job.spec
    const line = await samples.getItem(job.id, itemIndexOfSample(job.spec, sample))
    if (line === undefined || !model) return
    const suiteItem = parseSuiteItem(line)
    const record = (verdict: SampleVerdict) => samples.record(job.id, sample, { verdict, score: verdict.score, slot })
    const item = await items.getOrCreate(suiteItem).catch((error: unknown) => {
      const unmakeable = buildUnmakeableVerdict(error, suiteItem)
      if (!unmakeable) throw error
      return unmakeable
    })
    if (!('entry' in item)) return this.#finalizeAfterLast(job.id, await record(item))
    const stored = await samples.getOutput(job.id, sample)
    const messages = buildPromptMessages(item.question, prompt)
    const output = stored
      ? decodeSampleOutput(stored)
      : await generateOutput(modelClients, { job, model, messages, seedOffset: sample % samples_per_item, signal })
    const isStored = stored !== undefined || (await samples.storeOutput(job.id, sample, encodeSampleOutput(output)))
    const verdict = await gradeSample(grader, { output, item, suiteItem, rules: grading_rules })
    const result = await record(verdict)
    if (!isStored) await samples.deleteOutputs(job.id, [sample])
    await this.#finalizeAfterLast(job.id, result)
  }
  async #finalizeAfterLast(id: string, result: RecordSampleResult): Promise<void> {
    if (result.kind === 'recorded' && result.done >= result.total) await this.#deps.aggregator.finalize(id, 'done')
  }
}
