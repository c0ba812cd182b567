/** Processes one sample of an eval or a duel: creates the item, calls the model, then stores, grades and records the output. */
import type { Grader } from '../../grading/grader.ts'
import type { Requeue } from '../../platform/queue/job-definition.ts'
import { buildPromptMessages } from '../items/prompt.ts'
import type { EvalAggregator } from './aggregator.ts'
import type { DuelReferee } from './duels/duel-referee.ts'
import type { EvalItemCache } from './eval-item-cache.ts'
import { generateOutput } from './generate-output.ts'
import { DUEL_SIDES, type DuelSpec, type EvalSpec, itemIndexOfSample } from './generation-job-spec.ts'
import { buildUnmakeableVerdict, gradeSample } from './grade-sample.ts'
import { type FrontierItems, isFrontierJob } from './kinds/frontier.ts'
import type { ModelClients } from './models/clients.ts'
import type { ModelSpec } from './models/spec.ts'
import { isOfKind, type JobOfKind } from './records.ts'
import { decodeSampleOutput, encodeSampleOutput, listFailureCauses, type SampleVerdict } from './samples/output.ts'
import type { RecordSampleResult, SampleRepository } from './samples/repository.ts'
import { parseSuiteItem } from './suites.ts'

/**
 * Interval at which a sample checks whether its round can begin: a round of a frontier eval begins when the previous
 * one is scored.
 */
const ROUND_POLL_INTERVAL_MS = 200

interface EvalSampleProcessorDeps {
  samples: SampleRepository
  items: EvalItemCache
  grader: Grader
  modelClients: ModelClients
  aggregator: EvalAggregator
  referee: DuelReferee
  frontierItems: FrontierItems
}

export class EvalSampleProcessor {
  readonly #deps: EvalSampleProcessorDeps

  constructor(deps: EvalSampleProcessorDeps) {
    this.#deps = deps
  }

  /**
   * Processes the sample. May run again for the same sample; an output that is already stored is not requested a second
   * time. Returns when to continue if the sample's item still depends on other samples. Throws the signal's reason, an
   * `ItemChangedError`, or an error of the engine.
   */
  async process(
    job: JobOfKind<'eval' | 'duel'>,
    sample: number,
    slot: number,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    const { samples, items, grader, modelClients, frontierItems } = this.#deps
    const { prompt, grading_rules } = job.spec
    const { model, ...target } = chooseModel(job.spec, sample)
    const line = isFrontierJob(job)
      ? await frontierItems.choose(job, sample)
      : await samples.getItem(job.id, itemIndexOfSample(job.spec, sample))
    if (!model) return undefined
    if (line === undefined) return isFrontierJob(job) ? { delayMs: ROUND_POLL_INTERVAL_MS } : undefined
    const suiteItem = parseSuiteItem(line)
    const record = (verdict: SampleVerdict) =>
      samples.record(job.id, sample, { verdict, score: verdict.score, slot, failures: listFailureCauses(verdict) })
    const item = await items.getOrCreate(suiteItem).catch((error: unknown) => {
      const unmakeable = buildUnmakeableVerdict(error, suiteItem)
      if (!unmakeable) throw error
      return unmakeable
    })
    if (!('entry' in item)) return this.#finalizeIfOver(job, await record(item))
    const stored = await samples.getOutput(job.id, sample)
    const messages = buildPromptMessages(item.question, prompt)
    const output = stored
      ? decodeSampleOutput(stored)
      : await generateOutput(modelClients, { job, model, ...target, messages, signal })
    const answeredBy = output.kind === 'response' ? target.modelIndex : undefined
    const isStored =
      stored !== undefined || (await samples.storeOutput(job.id, sample, encodeSampleOutput(output), answeredBy))
    const verdict = await gradeSample(grader, { output, item, suiteItem, rules: grading_rules })
    const result = await record(verdict)
    if (!isStored) await samples.deleteOutputs(job.id, [sample])
    return this.#finalizeIfOver(job, result)
  }

  async #finalizeIfOver(job: JobOfKind<'eval' | 'duel'>, result: RecordSampleResult): Promise<undefined> {
    if (result.kind !== 'recorded') return undefined
    const { aggregator, referee } = this.#deps
    if (await aggregator.failIfAllFail(job.id, result)) return undefined
    const standing = isOfKind(job, 'duel') ? await referee.look(job) : 'open'
    if (result.done >= result.total || standing === 'decided') await aggregator.finalize(job.id, 'done')
    else if (standing === 'without_pairs') await aggregator.failWithoutPairs(job.id)
    return undefined
  }
}

/**
 * Returns the model that generates the sample, and the position of the sample among those that the model generates for
 * the item.
 */
function chooseModel(
  spec: EvalSpec | DuelSpec,
  sample: number,
): { model: ModelSpec | null; modelIndex: number; seedOffset: number } {
  if (spec.kind === 'eval') return { model: spec.model, modelIndex: 0, seedOffset: sample % spec.samples_per_item }
  const modelIndex = sample % DUEL_SIDES
  return { model: modelIndex === 0 ? spec.model : spec.opponent, modelIndex, seedOffset: 0 }
}
