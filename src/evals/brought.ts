/** Evals whose completions the caller brings: which items are wanted, and what became of what came. */
import { Fault } from '../faults.ts'
import type { MadeItem } from '../items/items.ts'
import type { Judge } from '../items/judge.ts'
import { messagesFor } from '../items/messages.ts'
import type { Samples } from '../store/samples.ts'
import type { CompletionInput } from '../words/eval.ts'
import type { PromptMessage } from '../words/item.ts'
import { type EvalItems, ItemChanged } from './eval-items.ts'
import { inOrder } from './in-order.ts'
import type { ResultMaker } from './result-maker.ts'
import { givenOf, packText, sampleVerdict, type Text } from './sample.ts'
import { itemOfSample } from './spec.ts'
import { questionHash, readItem, type SuiteItem } from './suites.ts'
import type { OpenEval } from './view.ts'

export interface WantedSample {
  sample_id: string
  item_id: string
  messages: PromptMessage[]
}

interface Parts {
  samples: Samples
  items: EvalItems
  judge: Judge
  results: ResultMaker
}

export class Brought {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** One rank's share, from the `from`th of it: the shares are disjoint and cover the eval. */
  async items(
    { id, spec, total }: OpenEval,
    { rank, ranks, from, count }: { rank: number; ranks: number; from: number; count: number },
  ): Promise<WantedSample[]> {
    const lines = await this.#parts.samples.items(id)
    const share: number[] = []
    for (let k = rank + from * ranks; k < total && share.length < count; k += ranks) share.push(k)
    return inOrder(share, async (sample) => {
      const { id: item_id, question } = readItem(lines[itemOfSample(spec, sample)] ?? '')
      const made = await this.#make(id, { id: item_id, question })
      return { sample_id: `s${sample}`, item_id, messages: messagesFor(made.question, spec.prompt) }
    })
  }

  /** How many were new; the same sample counts once, as it came first. Done when the last one is in. */
  async take(found: OpenEval, completions: CompletionInput[]): Promise<number> {
    if (found.spec.model) throw new Fault('invalid_request', 'This eval asks its model itself and takes no completions')
    const numbers = completions.map(({ sample_id }) => Number(sample_id.slice(1)))
    numbers.forEach((sample, k) => {
      if (sample >= found.total) throw unknownSample(`completions.${k}.sample_id`, found)
    })
    const lines = await this.#parts.samples.items(found.id)
    const recorded = await inOrder(completions, (completion, k) => {
      const sample = numbers[k] ?? 0
      return this.#take(found, sample, completion, lines[itemOfSample(found.spec, sample)] ?? '')
    })
    if (recorded.some((one) => one.kind === 'recorded' && one.done >= one.total)) {
      await this.#parts.results.end(found.id, 'done')
    }
    return recorded.filter((one) => one.kind === 'recorded' && one.isNew).length
  }

  /** An item that is not what was frozen ends the eval: its scores would mean something else. */
  async #make(id: string, item: SuiteItem): Promise<MadeItem> {
    try {
      return await this.#parts.items.make(item)
    } catch (error) {
      if (!(error instanceof ItemChanged)) throw error
      await this.#parts.results.end(id, 'failed', error.message)
      throw new Fault('engine_version_mismatch', error.message, { cause: error })
    }
  }

  async #take(found: OpenEval, sample: number, given: CompletionInput, line: string) {
    const { samples, judge } = this.#parts
    const [known] = await samples.verdicts(found.id, sample, sample + 1)
    if (known) return { kind: 'recorded', isNew: false, done: found.done, total: found.total } as const
    const item = readItem(line)
    const made = await this.#make(found.id, item)
    const { finish_reason = null, completion, messages, length_tokens } = given
    const text: Text = {
      kind: 'brought',
      finish_reason,
      ...(completion !== undefined && { completion }),
      ...(messages && { messages }),
      ...(length_tokens !== undefined && { length_tokens }),
    }
    const [judged] = await judge.verdicts(made.recipe, [givenOf(text)], found.spec.rules, true)
    if (!judged) throw new RangeError('one completion has one verdict')
    const verdict = sampleVerdict(text, judged)
    if (item.question === undefined) verdict.question = questionHash(made.question)
    const recorded = await samples.record(found.id, sample, { verdict, score: verdict.score })
    if (recorded.kind === 'recorded' && recorded.isNew) {
      const hasRoom = await samples.keepText(found.id, sample, packText(text))
      if (!hasRoom) await samples.forgetTexts(found.id, [sample])
    }
    return recorded
  }
}

function unknownSample(path: string, { id, total }: OpenEval): Fault {
  const message = `eval ${id} has the samples s0 to s${total - 1}`
  return new Fault('invalid_request', `${path}: ${message}`, { errors: [{ path, message }] })
}
