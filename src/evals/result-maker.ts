/** Makes the result of an eval from its samples and ends it; any process may, and a second time changes nothing. */
import type { Samples } from '../store/samples.ts'
import type { SamplingStatus, Samplings } from '../store/samplings.ts'
import type { TaskCatalogue } from '../tasks/catalogue.ts'
import type { EvalResult } from '../words/eval.ts'
import { decodeItemId } from '../words/item-id.ts'
import { type CollectedGroup, collected } from './collected.ts'
import type { EvalItems } from './eval-items.ts'
import { inOrder } from './in-order.ts'
import { resultOf, type SampledItem } from './results.ts'
import type { SampleVerdict } from './sample.ts'
import type { EvalSpec, Spec } from './spec.ts'
import { questionHash, readItem, type SuiteItem, suiteHash } from './suites.ts'
import { progressOf, viewOf } from './view.ts'

const PAGE = 1000
/** What finds the items of a made-up suite once more: whoever asked for the result waits for it. */
const HASH_WITHIN_MS = 4000

interface Parts {
  samplings: Samplings
  samples: Samples
  items: EvalItems
  tasks: TaskCatalogue
}

export class ResultMaker {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async end(id: string, status: SamplingStatus, detail = ''): Promise<void> {
    const { samplings } = this.#parts
    const found = await samplings.find(id)
    if (!found || (found.status !== 'queued' && found.status !== 'running')) return
    const spec = found.spec as Spec // as its maker wrote it
    if (spec.kind === 'collection') {
      const result = collected(await this.#groups(id, spec.groups))
      const progress = progressOf(found)
      await samplings.end(id, {
        status,
        result,
        detail,
        news: { id, status, progress, result, detail: detail || null },
      })
      return
    }
    const result = await this.#result(id, spec, found.total, status === 'done')
    const news = viewOf({ ...found, spec, status, result, detail: detail || null, ended: Date.now() })
    await samplings.end(id, { status, result, detail, news })
  }

  /** Samples that have no score. */
  async failedSamples(id: string, total: number): Promise<number[]> {
    const failed: number[] = []
    for await (const [sample, verdict] of this.verdicts(id, total)) if (verdict?.score === null) failed.push(sample)
    return failed
  }

  async #groups(id: string, groups: number): Promise<CollectedGroup[]> {
    const verdicts: unknown[] = []
    for (let from = 0; from < groups; from += PAGE)
      verdicts.push(...(await this.#parts.samples.verdicts(id, from, Math.min(from + PAGE, groups))))
    return verdicts.filter((verdict) => verdict !== null) as CollectedGroup[] // as GroupSampler records them
  }

  async *verdicts(id: string, total: number): AsyncGenerator<[sample: number, verdict: SampleVerdict | null]> {
    for (let from = 0; from < total; from += PAGE) {
      const page = await this.#parts.samples.verdicts(id, from, Math.min(from + PAGE, total))
      for (const [k, verdict] of page.entries()) yield [from + k, verdict as SampleVerdict | null] // as they are recorded
    }
  }

  async #result(id: string, spec: EvalSpec, total: number, whole: boolean): Promise<EvalResult> {
    const items = (await this.#parts.samples.items(id)).map(readItem)
    const sampled: SampledItem[] = items.map((item) => {
      const { task, difficulty } = decodeItemId(item.id)
      return { task, difficulty, category: this.#parts.tasks.find(task).category, verdicts: [] }
    })
    for await (const [sample, verdict] of this.verdicts(id, total)) {
      const at = Math.floor(sample / spec.samples_per_item)
      sampled[at]?.verdicts.push(verdict)
      const item = items[at]
      if (item && verdict?.question) item.question = verdict.question
    }
    const sha256 = spec.suite.sha256 ?? (whole ? await this.#hash(items) : null)
    const { model, rules, prompt } = spec
    const repeat = {
      suite: { ...spec.suite, sha256 },
      engine: { library: 'reasoning-gym', version: spec.engine },
      server: spec.server,
      model: model && { name: model.name, base_url: model.base_url },
      sampling: model
        ? { ...model.asking, samples_per_item: spec.samples_per_item }
        : { samples_per_item: spec.samples_per_item },
      ...rules,
      ...prompt,
    }
    const { temperature, samples_per_item } = spec
    return resultOf(sampled, { temperature: model && temperature, samplesPerItem: samples_per_item, repeat })
  }

  /** The hash of a suite that was made up; null if not all of its items can be had within the deadline. */
  async #hash(items: SuiteItem[]): Promise<string | null> {
    const over = new AbortController()
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new Error('the items take too long')), HASH_WITHIN_MS)
    const known = async ({ id, question }: SuiteItem) => ({
      id,
      question: question ?? questionHash((await this.#parts.items.make({ id, question })).question),
    })
    try {
      return suiteHash(await Promise.race([inOrder(items, known, over.signal), late]))
    } catch {
      return null
    } finally {
      clearTimeout(timer)
      over.abort()
    }
  }
}
