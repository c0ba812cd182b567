/** One sample of an eval: the item is made, the model asked, the reply kept, judged and recorded, in this order. */
import type { Grader } from '../../grading/grader.ts'
import { buildPromptMessages } from '../items/prompt.ts'
import type { EvalAggregator } from './eval-aggregator.ts'
import type { EvalItemCache } from './eval-item-cache.ts'
import type { StoredGenerationJob } from './generation-job-repository.ts'
import { type EvalSpec, itemIndexOfSample, type ModelSpec } from './generation-job-spec.ts'
import { ModelRequestError } from './model-client/model-client.ts'
import type { ModelClients } from './model-clients.ts'
import {
  buildSampleVerdict,
  decodeSampleOutput,
  encodeSampleOutput,
  type SampleOutput,
  toSampleSubmission,
} from './sample-output.ts'
import type { SampleRepository } from './sample-repository.ts'
import { hashQuestion, parseSuiteItem } from './suites.ts'

interface EvalSampleProcessorDeps {
  samples: SampleRepository
  items: EvalItemCache
  grader: Grader
  modelClients: ModelClients
  aggregator: EvalAggregator
}

export class EvalSampleProcessor {
  readonly #deps: EvalSampleProcessorDeps

  constructor(parts: EvalSampleProcessorDeps) {
    this.#deps = parts
  }

  /** Throws the signal's reason, `ItemChanged`, or a fault of the engine; may be called again for the same sample. */
  async process(
    found: StoredGenerationJob,
    spec: EvalSpec,
    sample: number,
    lane: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { samples, items, grader: judge, aggregator: results } = this.#deps
    const line = await samples.getItem(found.id, itemIndexOfSample(spec, sample))
    if (line === undefined || !spec.model) return
    const item = parseSuiteItem(line)
    const made = await items.getOrCreate(item)
    const kept = await samples.getCompletion(found.id, sample)
    const text = kept
      ? decodeSampleOutput(kept)
      : await this.#generate(found, spec, spec.model, made.question, sample, signal)
    const hasRoom = kept !== undefined || (await samples.storeCompletion(found.id, sample, encodeSampleOutput(text)))
    const [judged] = await judge.grade(made.recipe, [toSampleSubmission(text)], spec.rules, true)
    if (!judged) throw new RangeError('one completion has one verdict')
    const verdict = buildSampleVerdict(text, judged)
    if (item.question === undefined) verdict.question = hashQuestion(made.question)
    const recorded = await samples.record(found.id, sample, { verdict, score: verdict.score, slot: lane })
    if (!hasRoom) await samples.deleteCompletions(found.id, [sample])
    if (recorded.kind === 'recorded' && recorded.done >= recorded.total) await results.finalize(found.id, 'done')
  }

  async #generate(
    found: StoredGenerationJob,
    { prompt, samples_per_item }: EvalSpec,
    called: ModelSpec,
    question: string,
    sample: number,
    signal: AbortSignal,
  ): Promise<SampleOutput> {
    const model = await this.#deps.modelClients.getOrCreate(found, called)
    const { seed, ...asking } = called.asking
    const own = seed === undefined ? {} : { seed: seed + (sample % samples_per_item) }
    try {
      const request = { ...own, ...asking.request }
      return {
        kind: 'reply',
        reply: await model.complete(buildPromptMessages(question, prompt), { ...asking, request }, signal),
      }
    } catch (error) {
      if (error instanceof ModelRequestError) return { kind: 'failed', detail: error.message }
      throw error
    }
  }
}
