/** Evals whose completions the caller brings: which items are wanted, and what became of what came. */
import { ServiceError } from '../../contract/errors.ts'
import type { CompletionInput } from '../../contract/eval.ts'
import type { PromptMessage } from '../../contract/item.ts'
import type { Grader } from '../../grading/grader.ts'
import type { ItemWithEntry } from '../items/items.ts'
import { buildPromptMessages } from '../items/prompt.ts'
import type { EvalAggregator } from './eval-aggregator.ts'
import { type EvalItemCache, ItemChangedError } from './eval-item-cache.ts'
import type { StoredEval } from './eval-view.ts'
import { itemIndexOfSample } from './generation-job-spec.ts'
import { mapConcurrently } from './map-concurrently.ts'
import { buildSampleVerdict, encodeSampleOutput, type SampleOutput, toSampleSubmission } from './sample-output.ts'
import type { SampleRepository } from './sample-repository.ts'
import { hashQuestion, parseSuiteItem, type SuiteItem } from './suites.ts'

export interface SamplePrompt {
  sample_id: string
  item_id: string
  messages: PromptMessage[]
}

interface ExternalCompletionsDeps {
  samples: SampleRepository
  items: EvalItemCache
  grader: Grader
  aggregator: EvalAggregator
}

export class ExternalCompletions {
  readonly #deps: ExternalCompletionsDeps

  constructor(parts: ExternalCompletionsDeps) {
    this.#deps = parts
  }

  /** One rank's share, from the `from`th of it: the shares are disjoint and cover the eval. */
  async listSamplePrompts(
    { id, spec, total }: StoredEval,
    { rank, ranks, from, count }: { rank: number; ranks: number; from: number; count: number },
  ): Promise<SamplePrompt[]> {
    const lines = await this.#deps.samples.listItems(id)
    const share: number[] = []
    for (let k = rank + from * ranks; k < total && share.length < count; k += ranks) share.push(k)
    return mapConcurrently(share, async (sample) => {
      const { id: item_id, question } = parseSuiteItem(lines[itemIndexOfSample(spec, sample)] ?? '')
      const made = await this.#makeItem(id, { id: item_id, question })
      return { sample_id: `s${sample}`, item_id, messages: buildPromptMessages(made.question, spec.prompt) }
    })
  }

  /** How many were new; the same sample counts once, as it came first. Done when the last one is in. */
  async submit(found: StoredEval, completions: CompletionInput[]): Promise<number> {
    if (found.spec.model)
      throw new ServiceError('invalid_request', 'This eval asks its model itself and takes no completions')
    const numbers = completions.map(({ sample_id }) => Number(sample_id.slice(1)))
    numbers.forEach((sample, k) => {
      if (sample >= found.total) throw unknownSampleError(`completions.${k}.sample_id`, found)
    })
    const lines = await this.#deps.samples.listItems(found.id)
    const recorded = await mapConcurrently(completions, (completion, k) => {
      const sample = numbers[k] ?? 0
      return this.#submitOne(found, sample, completion, lines[itemIndexOfSample(found.spec, sample)] ?? '')
    })
    if (recorded.some((one) => one.kind === 'recorded' && one.done >= one.total)) {
      await this.#deps.aggregator.finalize(found.id, 'done')
    }
    return recorded.filter((one) => one.kind === 'recorded' && one.isNew).length
  }

  /** An item that is not what was frozen ends the eval: its scores would mean something else. */
  async #makeItem(id: string, item: SuiteItem): Promise<ItemWithEntry> {
    try {
      return await this.#deps.items.getOrCreate(item)
    } catch (error) {
      if (!(error instanceof ItemChangedError)) throw error
      await this.#deps.aggregator.finalize(id, 'failed', error.message)
      throw new ServiceError('engine_version_mismatch', error.message, { cause: error })
    }
  }

  async #submitOne(found: StoredEval, sample: number, given: CompletionInput, line: string) {
    const { samples, grader: judge } = this.#deps
    const [known] = await samples.listVerdicts(found.id, sample, sample + 1)
    if (known) return { kind: 'recorded', isNew: false, done: found.done, total: found.total } as const
    const item = parseSuiteItem(line)
    const made = await this.#makeItem(found.id, item)
    const { finish_reason = null, completion, messages, length_tokens } = given
    const text: SampleOutput = {
      kind: 'brought',
      finish_reason,
      ...(completion !== undefined && { completion }),
      ...(messages && { messages }),
      ...(length_tokens !== undefined && { length_tokens }),
    }
    const [judged] = await judge.grade(made.recipe, [toSampleSubmission(text)], found.spec.rules, true)
    if (!judged) throw new RangeError('one completion has one verdict')
    const verdict = buildSampleVerdict(text, judged)
    if (item.question === undefined) verdict.question = hashQuestion(made.question)
    const recorded = await samples.record(found.id, sample, { verdict, score: verdict.score })
    if (recorded.kind === 'recorded' && recorded.isNew) {
      const hasRoom = await samples.storeCompletion(found.id, sample, encodeSampleOutput(text))
      if (!hasRoom) await samples.deleteCompletions(found.id, [sample])
    }
    return recorded
  }
}

function unknownSampleError(path: string, { id, total }: StoredEval): ServiceError {
  const message = `eval ${id} has the samples s0 to s${total - 1}`
  return new ServiceError('invalid_request', `${path}: ${message}`, { errors: [{ path, message }] })
}
