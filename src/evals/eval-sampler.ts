/** One sample of an eval: the item is made, the model asked, the reply kept, judged and recorded, in this order. */
import type { Judge } from '../items/judge.ts'
import { messagesFor } from '../items/messages.ts'
import { NoReply } from '../models/model.ts'
import type { Samples } from '../store/samples.ts'
import type { StoredSampling } from '../store/samplings.ts'
import type { EvalItems } from './eval-items.ts'
import type { Models } from './models.ts'
import type { ResultMaker } from './result-maker.ts'
import { givenOf, packText, sampleVerdict, type Text, unpackText } from './sample.ts'
import { type CalledModel, type EvalSpec, itemOfSample } from './spec.ts'
import { questionHash, readItem } from './suites.ts'

interface Parts {
  samples: Samples
  items: EvalItems
  judge: Judge
  models: Models
  results: ResultMaker
}

export class EvalSampler {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Throws the signal's reason, `ItemChanged`, or a fault of the engine; may be called again for the same sample. */
  async sample(
    found: StoredSampling,
    spec: EvalSpec,
    sample: number,
    lane: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { samples, items, judge, results } = this.#parts
    const line = await samples.item(found.id, itemOfSample(spec, sample))
    if (line === undefined || !spec.model) return
    const item = readItem(line)
    const made = await items.make(item)
    const kept = await samples.text(found.id, sample)
    const text = kept ? unpackText(kept) : await this.#ask(found, spec, spec.model, made.question, sample, signal)
    const hasRoom = kept !== undefined || (await samples.keepText(found.id, sample, packText(text)))
    const [judged] = await judge.verdicts(made.recipe, [givenOf(text)], spec.rules, true)
    if (!judged) throw new RangeError('one completion has one verdict')
    const verdict = sampleVerdict(text, judged)
    if (item.question === undefined) verdict.question = questionHash(made.question)
    const recorded = await samples.record(found.id, sample, { verdict, score: verdict.score, lane })
    if (!hasRoom) await samples.forgetTexts(found.id, [sample])
    if (recorded.kind === 'recorded' && recorded.done >= recorded.total) await results.end(found.id, 'done')
  }

  async #ask(
    found: StoredSampling,
    { prompt, samples_per_item }: EvalSpec,
    called: CalledModel,
    question: string,
    sample: number,
    signal: AbortSignal,
  ): Promise<Text> {
    const model = await this.#parts.models.of(found, called)
    const { seed, ...asking } = called.asking
    const own = seed === undefined ? {} : { seed: seed + (sample % samples_per_item) }
    try {
      const request = { ...own, ...asking.request }
      return { kind: 'reply', reply: await model.ask(messagesFor(question, prompt), { ...asking, request }, signal) }
    } catch (error) {
      if (error instanceof NoReply) return { kind: 'failed', detail: error.message }
      throw error
    }
  }
}
