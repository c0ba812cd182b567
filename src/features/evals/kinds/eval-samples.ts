/** Processes one sample of an eval: creates the item, calls the model, then stores, grades and records the output. */
import { isCorrect } from '@reasoning-gym-server/contract/verdict'
import { hasNoCompletion } from '../../../grading/finish-reason.ts'
import type { Grader } from '../../../grading/grader.ts'
import { formatRetryPrompt } from '../../../grading/tries.ts'
import type { Requeue } from '../../../platform/queue/job-definition.ts'
import type { ItemWithEntry } from '../../items/items.ts'
import { buildPromptMessages } from '../../items/prompt.ts'
import type { JobAggregator } from '../aggregator.ts'
import type { EvalParts } from '../job-items.ts'
import { type AnswerMemory, MAX_ANSWER_BYTES } from '../models/answer-memory.ts'
import type { ConversationMessage } from '../models/client.ts'
import type { CompletionRequest, ModelClients } from '../models/clients.ts'
import type { JobOfKind } from '../records.ts'
import {
  buildUnmakeableVerdict,
  decodeSampleOutput,
  encodeSampleOutput,
  getLastResponse,
  gradeSample,
  listFailureCauses,
  type OutputSpace,
  type SampleOutput,
  type StoredSampleVerdict,
} from '../samples/output.ts'
import type { RecordSampleResult } from '../samples/repository.ts'

/** After longer answers there is no further try: a sample may hold one large answer, and eight of them would be 128 MiB. */
const MAX_CONVERSATION_CHARS = 1024 * 1024

interface EvalSampleProcessorDeps extends Pick<EvalParts, 'openItems' | 'samples' | 'suites'> {
  grader: Grader
  modelClients: ModelClients
  outputSpace: OutputSpace
  answerMemory: AnswerMemory
  aggregator: JobAggregator
}

export class EvalSampleProcessor {
  readonly #deps: EvalSampleProcessorDeps

  constructor(deps: EvalSampleProcessorDeps) {
    this.#deps = deps
  }

  /**
   * Processes the sample. May run again for the same sample; an answer that is already stored is not requested a second
   * time. Returns when to continue if the sample's item still depends on other samples. Throws the signal's reason, an
   * `ItemChangedError`, or an error of the engine.
   */
  async process(
    job: JobOfKind<'eval'>,
    sample: number,
    slot: number,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    const { openItems, samples, suites, grader, answerMemory } = this.#deps
    const { model, prompt, grading_rules, samples_per_item, tries } = job.spec
    const suiteItem = await openItems(job).choose(sample)
    if (!model || !suiteItem) return undefined
    if ('delayMs' in suiteItem) return suiteItem
    const record = (verdict: StoredSampleVerdict) =>
      samples.record(job.id, sample, { verdict, score: verdict.score, slot, failures: listFailureCauses(verdict) })
    const item = await suites.getOrCreateItem(suiteItem).catch((error: unknown) => {
      const unmakeable = buildUnmakeableVerdict(error, suiteItem)
      if (!unmakeable) throw error
      return unmakeable
    })
    if (!('entry' in item)) return this.#finalizeIfOver(job, await record(item))
    const stored = await this.#readStored(job, sample)
    const messages = buildPromptMessages(item, prompt)
    const result = await answerMemory.hold(MAX_ANSWER_BYTES, async (hold) => {
      const request = { job, model, messages, seedOffset: sample % samples_per_item, signal, hold }
      const generate = async () =>
        this.#storeOutput(job, sample, await this.#generate(job, item, request), stored.unusable)
      const { output, isKept } = stored.answer ? { output: stored.answer, isKept: true } : await generate()
      const rules = { rules: grading_rules, hasTries: tries !== undefined }
      return record(await gradeSample(grader, { output, item, suiteItem, ...rules, isKept }))
    })
    return this.#finalizeIfOver(job, result)
  }

  /** Returns the stored output. A failure, whose job ended before it was recorded, is not usable: the sample is requested again. */
  async #readStored(
    { id }: JobOfKind<'eval'>,
    sample: number,
  ): Promise<{ answer?: SampleOutput | undefined; unusable?: Buffer | undefined }> {
    const encoded = await this.#deps.samples.getOutput(id, sample)
    const output = decodeSampleOutput(encoded)?.output
    return output && output.kind !== 'failed' ? { answer: output } : { unusable: encoded }
  }

  /** Requests an answer, and another one after each wrong answer for as long as the eval allows more tries. */
  async #generate(
    { spec }: JobOfKind<'eval'>,
    { recipe }: ItemWithEntry,
    request: CompletionRequest,
  ): Promise<SampleOutput> {
    const { grader, modelClients } = this.#deps
    const output = await modelClients.complete(request)
    const { tries } = spec
    if (!tries || output.kind !== 'response' || hasNoCompletion(output.response.finish_reason)) return output
    const responses = [output.response]
    const messages: ConversationMessage[] = [...request.messages]
    while (responses.length < tries.count && JSON.stringify(responses).length < MAX_CONVERSATION_CHARS) {
      const content = responses.at(-1)?.content ?? ''
      const rules = { ...spec.grading_rules, feedback: tries.feedback }
      const [verdict] = await grader.gradeWithoutStatistics(
        recipe,
        [{ kind: 'completion', completion: content }],
        rules,
      )
      if (verdict?.status !== 'scored' || isCorrect(verdict.score)) break
      const retry = formatRetryPrompt(tries.retry_prompt, verdict.feedback)
      messages.push({ role: 'assistant', content }, { role: 'user', content: retry })
      const next = await modelClients.complete({ ...request, messages })
      if (next.kind !== 'response' || hasNoCompletion(next.response.finish_reason)) return next
      responses.push(next.response)
    }
    return responses.length === 1 ? output : { kind: 'tries', responses }
  }

  /** Stores the output if there is room. Returns it, or the answer that another worker stored first, and whether it is stored. */
  async #storeOutput(
    job: JobOfKind<'eval'>,
    sample: number,
    output: SampleOutput,
    replaces: Buffer | undefined,
  ): Promise<{ output: SampleOutput; isKept: boolean }> {
    const { samples, outputSpace } = this.#deps
    const encoded = await encodeSampleOutput(output)
    const isKept = await outputSpace.reserve(job.id, encoded.byteLength)
    const isStored = await samples.storeOutput(job.id, sample, {
      output: isKept ? encoded : undefined,
      isAnswer: getLastResponse(output) !== undefined,
      verdict: sample,
      replaces,
    })
    if (isStored) return { output, isKept }
    const { answer, unusable } = await this.#readStored(job, sample)
    if (answer) return { output: answer, isKept: true }
    const isOtherFailure = unusable !== undefined && replaces?.equals(unusable) !== true
    return isOtherFailure ? this.#storeOutput(job, sample, output, unusable) : { output, isKept: false }
  }

  async #finalizeIfOver(job: JobOfKind<'eval'>, result: RecordSampleResult): Promise<undefined> {
    if (result.kind === 'recorded') await this.#deps.aggregator.finalizeIfOver(job.id, result)
  }
}
