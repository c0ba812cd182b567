/** Makes the result of an eval from its samples and ends it; any process may, and a second time changes nothing. */

import type { EvalResult } from '../../contract/eval.ts'
import { decodeItemId } from '../../contract/item-id.ts'
import type { TaskCatalog } from '../tasks/task-catalog.ts'
import { aggregateCollection, type CollectedGroup } from './collection-result.ts'
import type { EvalItemCache } from './eval-item-cache.ts'
import { buildEvalResult, type SampledItem } from './eval-result.ts'
import { buildEvalView, buildProgress } from './eval-view.ts'
import type { GenerationJobRepository, StoredGenerationJobStatus } from './generation-job-repository.ts'
import type { EvalSpec, GenerationJobSpec } from './generation-job-spec.ts'
import { mapConcurrently } from './map-concurrently.ts'
import type { SampleVerdict } from './sample-output.ts'
import type { SampleRepository } from './sample-repository.ts'
import { computeSuiteHash, hashQuestion, parseSuiteItem, type SuiteItem } from './suites.ts'

const VERDICTS_PER_PAGE = 1000
/** What finds the items of a made-up suite once more: whoever asked for the result waits for it. */
const SUITE_HASH_TIMEOUT_MS = 4000

interface EvalAggregatorDeps {
  generationJobs: GenerationJobRepository
  samples: SampleRepository
  items: EvalItemCache
  tasks: TaskCatalog
}

export class EvalAggregator {
  readonly #deps: EvalAggregatorDeps

  constructor(parts: EvalAggregatorDeps) {
    this.#deps = parts
  }

  async finalize(id: string, status: StoredGenerationJobStatus, detail = ''): Promise<void> {
    const { generationJobs: samplings } = this.#deps
    const found = await samplings.get(id)
    if (!found || (found.status !== 'queued' && found.status !== 'running')) return
    const spec = found.spec as GenerationJobSpec // as its maker wrote it
    if (spec.kind === 'collection') {
      const result = aggregateCollection(await this.#listCollectedGroups(id, spec.groups))
      const progress = buildProgress(found)
      await samplings.end(id, {
        status,
        result,
        detail,
        news: { id, status, progress, result, detail: detail || null },
      })
      return
    }
    const result = await this.#aggregate(id, spec, found.total, status === 'done')
    const news = buildEvalView({ ...found, spec, status, result, detail: detail || null, ended: Date.now() })
    await samplings.end(id, { status, result, detail, news })
  }

  /** Samples that have no score. */
  async listFailedSamples(id: string, total: number): Promise<number[]> {
    const failed: number[] = []
    for await (const [sample, verdict] of this.streamVerdicts(id, total))
      if (verdict?.score === null) failed.push(sample)
    return failed
  }

  async #listCollectedGroups(id: string, groups: number): Promise<CollectedGroup[]> {
    const verdicts: unknown[] = []
    for (let from = 0; from < groups; from += VERDICTS_PER_PAGE)
      verdicts.push(...(await this.#deps.samples.listVerdicts(id, from, Math.min(from + VERDICTS_PER_PAGE, groups))))
    return verdicts.filter((verdict) => verdict !== null) as CollectedGroup[] // as GroupSampler records them
  }

  async *streamVerdicts(id: string, total: number): AsyncGenerator<[sample: number, verdict: SampleVerdict | null]> {
    for (let from = 0; from < total; from += VERDICTS_PER_PAGE) {
      const page = await this.#deps.samples.listVerdicts(id, from, Math.min(from + VERDICTS_PER_PAGE, total))
      for (const [k, verdict] of page.entries()) yield [from + k, verdict as SampleVerdict | null] // as they are recorded
    }
  }

  async #aggregate(id: string, spec: EvalSpec, total: number, whole: boolean): Promise<EvalResult> {
    const items = (await this.#deps.samples.listItems(id)).map(parseSuiteItem)
    const sampled: SampledItem[] = items.map((item) => {
      const { task, difficulty } = decodeItemId(item.id)
      return { task, difficulty, category: this.#deps.tasks.require(task).category, verdicts: [] }
    })
    for await (const [sample, verdict] of this.streamVerdicts(id, total)) {
      const at = Math.floor(sample / spec.samples_per_item)
      sampled[at]?.verdicts.push(verdict)
      const item = items[at]
      if (item && verdict?.question) item.question = verdict.question
    }
    const sha256 = spec.suite.sha256 ?? (whole ? await this.#computeSuiteHash(items) : null)
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
    return buildEvalResult(sampled, { temperature: model && temperature, samplesPerItem: samples_per_item, repeat })
  }

  /** The hash of a suite that was made up; null if not all of its items can be had within the deadline. */
  async #computeSuiteHash(items: SuiteItem[]): Promise<string | null> {
    const over = new AbortController()
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new Error('the items take too long')), SUITE_HASH_TIMEOUT_MS)
    const known = async ({ id, question }: SuiteItem) => ({
      id,
      question: question ?? hashQuestion((await this.#deps.items.getOrCreate({ id, question })).question),
    })
    try {
      return computeSuiteHash(await Promise.race([mapConcurrently(items, known, over.signal), late]))
    } catch {
      return null
    } finally {
      clearTimeout(timer)
      over.abort()
    }
  }
}
