/** Ends generation jobs with the result of their samples. Any process may do so, and repeating it has no effect. */

import type { DuelResult } from '@reasoning-gym-server/contract/duel'
import { type EvalResult, type GenerationJobStatus, isActive } from '@reasoning-gym-server/contract/eval'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import pMap from 'p-map'
import { fleetNow } from '../../platform/redis/fleet-clock.ts'
import type { TaskCards } from '../tasks/task-cards.ts'
import type { TaskCatalog } from '../tasks/task-catalog.ts'
import { aggregateCollection, CollectedGroup } from './collection-result.ts'
import { MAX_ITEMS_WITHOUT_PAIR } from './duels/duel-referee.ts'
import { buildDuelResult, type SampledDuelItem } from './duels/duel-result.ts'
import { buildDuelView } from './duels/duel-view.ts'
import type { EvalItemCache } from './eval-item-cache.ts'
import { buildEvalResult, type SampledItem } from './eval-result.ts'
import { buildEvalView, buildProgress } from './eval-view.ts'
import { buildFrontierResult } from './frontier/frontier-result.ts'
import { type GenerationJob, isOfKind, type JobOfKind } from './generation-job-record.ts'
import type { GenerationJobRepository } from './generation-job-repository.ts'
import { type EvalSpec, itemIndexOfSample } from './generation-job-spec.ts'
import { listFailures } from './sample-failures.ts'
import { SampleVerdict } from './sample-output.ts'
import type { RecordSampleResult, SampleRepository } from './sample-repository.ts'
import { computeSuiteHash, hashQuestion, parseSuiteItem, type SuiteItem } from './suites.ts'

const VERDICTS_PER_PAGE = 1000
/** Number of samples after which a job fails if all of them have failed for the same reason. */
const MAX_EQUAL_FAILURES = 32
/**
 * Time for which the request that ends an eval waits while the items of its custom suite are recreated for the hash.
 */
const SUITE_HASH_TIMEOUT_MS = 4000
/** Number of items to create at once, enough to keep the engine busy. */
export const ITEM_CONCURRENCY = 32

interface EvalItems {
  items: SuiteItem[]
  /** Returns the position of the sample's item in the list, or −1 if it is unknown. */
  itemOfSample: (sample: number) => number
}

interface EvalAggregatorDeps {
  generationJobs: GenerationJobRepository
  samples: SampleRepository
  items: EvalItemCache
  tasks: TaskCatalog
  cards: TaskCards
}

export class EvalAggregator {
  readonly #deps: EvalAggregatorDeps

  constructor(deps: EvalAggregatorDeps) {
    this.#deps = deps
  }

  /** Ends the job with its result. Does nothing unless the job is active. */
  async finalize(id: string, status: GenerationJobStatus, detail = ''): Promise<void> {
    const { generationJobs } = this.#deps
    const job = await generationJobs.get(id)
    if (!job || !isActive(job.status)) return
    if (isOfKind(job, 'collection')) {
      const result = aggregateCollection(await this.#listCollectedGroups(job), job.failures)
      const failures = listFailures(job.failures)
      const event = { id, status, progress: buildProgress(job), failures, result, detail: detail || null }
      await generationJobs.end(id, { status, result, detail, event })
    } else if (isOfKind(job, 'eval')) {
      const result = await this.#aggregateEval(job, status === 'done')
      const event = buildEvalView({ ...job, status, result, detail: detail || null, ended_at: fleetNow() })
      await generationJobs.end(id, { status, result, detail, event })
    } else if (isOfKind(job, 'duel')) {
      const result = await this.aggregateDuel(job, false)
      const event = buildDuelView({ ...job, status, result, detail: detail || null, ended_at: fleetNow() })
      await generationJobs.end(id, { status, result, detail, event })
    }
  }

  /** Fails a job whose first samples have all failed in the same way, as the others would. Returns whether it did. */
  async failIfAllFail(id: string, result: RecordSampleResult): Promise<boolean> {
    if (result.kind !== 'recorded' || result.done < MAX_EQUAL_FAILURES || result.sameFailures < result.done)
      return false
    const reason = await this.#findMainReason(id)
    await this.finalize(id, 'failed', `The first ${MAX_EQUAL_FAILURES} samples failed in the same way: ${reason}`)
    return true
  }

  /** Fails a duel of which no item has a score of both models. */
  async failWithoutPairs(id: string): Promise<void> {
    const reason = await this.#findMainReason(id)
    const detail = `None of the first ${MAX_ITEMS_WITHOUT_PAIR} items has a score of both models. Most frequent reason: ${reason}`
    await this.finalize(id, 'failed', detail)
  }

  async #findMainReason(id: string): Promise<string> {
    const [first] = listFailures((await this.#deps.generationJobs.get(id))?.failures ?? [])
    return first?.reason || 'unknown'
  }

  /** Builds the current state of a duel (`isOngoing`) or its final result. */
  async aggregateDuel(job: JobOfKind<'duel'>, isOngoing: boolean): Promise<DuelResult> {
    const items = (await this.#deps.samples.listItems(job.id)).map((line): SampledDuelItem => {
      const { id } = parseSuiteItem(line)
      return { id, guessFloor: findGuessFloor(this.#deps.cards, id, job.spec), verdicts: [] }
    })
    for await (const [sample, verdict] of this.streamVerdicts(job))
      items[itemIndexOfSample(job.spec, sample)]?.verdicts.push(verdict)
    return buildDuelResult(job.spec, items, isOngoing)
  }

  /**
   * Lists the samples of an eval or duel that have no score. A collection has none because its groups are recorded
   * once.
   */
  async listFailedSamples(job: GenerationJob): Promise<number[]> {
    const failed: number[] = []
    if (!isOfKind(job, 'eval') && !isOfKind(job, 'duel')) return failed
    for await (const [sample, verdict] of this.streamVerdicts(job)) if (verdict?.score === null) failed.push(sample)
    return failed
  }

  async *streamVerdicts({
    id,
    total,
  }: Pick<GenerationJob, 'id' | 'total'>): AsyncGenerator<[sample: number, verdict: SampleVerdict | null]> {
    for (let from = 0; from < total; from += VERDICTS_PER_PAGE) {
      const to = Math.min(from + VERDICTS_PER_PAGE, total)
      const page = await this.#deps.samples.listVerdicts(SampleVerdict, id, from, to)
      for (const [k, verdict] of page.entries()) yield [from + k, verdict]
    }
  }

  async #listCollectedGroups({ id, spec }: JobOfKind<'collection'>): Promise<CollectedGroup[]> {
    const groups: CollectedGroup[] = []
    for (let from = 0; from < spec.groups; from += VERDICTS_PER_PAGE) {
      const to = Math.min(from + VERDICTS_PER_PAGE, spec.groups)
      const page = await this.#deps.samples.listVerdicts(CollectedGroup, id, from, to)
      groups.push(...page.filter((group) => group !== null))
    }
    return groups
  }

  async #aggregateEval(job: JobOfKind<'eval'>, isComplete: boolean): Promise<EvalResult> {
    const { spec } = job
    const { items, itemOfSample } = await this.listItems(job)
    const sampled: SampledItem[] = items.map((item) => {
      const { task, difficulty } = decodeItemId(item.id)
      const { category } = this.#deps.tasks.require(task)
      return { task, difficulty, category, guessFloor: findGuessFloor(this.#deps.cards, item.id, spec), verdicts: [] }
    })
    for await (const [sample, verdict] of this.streamVerdicts(job)) {
      const index = itemOfSample(sample)
      sampled[index]?.verdicts.push(verdict)
      const item = items[index]
      if (item && verdict?.question_hash) item.questionHash = verdict.question_hash
    }
    const sha256 = spec.suite.sha256 ?? (isComplete ? await this.#computeSuiteHash(items) : null)
    return buildEvalResult(sampled, {
      temperature: spec.model && spec.temperature,
      samplesPerItem: spec.samples_per_item,
      frontier: spec.frontier ? buildFrontierResult(spec.frontier, sampled) : null,
      repeat: buildRepeat(spec, sha256),
    })
  }

  /** Lists the known items. A frontier eval that was cancelled or failed has not chosen all of them. */
  async listItems({ id, spec, total }: JobOfKind<'eval'>): Promise<EvalItems> {
    const { samples } = this.#deps
    if (!spec.frontier) {
      const items = (await samples.listItems(id)).map(parseSuiteItem)
      return { items, itemOfSample: (sample: number) => itemIndexOfSample(spec, sample) }
    }
    const chosen = await samples.listChosenItems(
      id,
      Array.from({ length: total }, (_, sample) => sample),
    )
    const known = chosen.flatMap((item, sample) => (item === null ? [] : [{ sample, item: parseSuiteItem(item) }]))
    const places = new Map(known.map(({ sample }, index) => [sample, index]))
    return { items: known.map(({ item }) => item), itemOfSample: (sample: number) => places.get(sample) ?? -1 }
  }

  /** Returns null if some items cannot be created within the timeout. */
  async #computeSuiteHash(items: SuiteItem[]): Promise<string | null> {
    const hashItem = async ({ id, questionHash }: SuiteItem) => ({
      id,
      questionHash: questionHash ?? hashQuestion((await this.#deps.items.getOrCreate({ id, questionHash })).question),
    })
    const signal = AbortSignal.timeout(SUITE_HASH_TIMEOUT_MS)
    try {
      return computeSuiteHash(await pMap(items, hashItem, { concurrency: ITEM_CONCURRENCY, signal }))
    } catch {
      return null
    }
  }
}

/**
 * Returns the guessing floor of the item under the eval's scoring, or undefined if no card covers its config because
 * the config is custom or belongs to an earlier ladder.
 */
export function findGuessFloor(
  cards: TaskCards,
  itemId: string,
  { grading_rules: { scoring } }: Pick<EvalSpec, 'grading_rules'>,
): number | undefined {
  return cards.findItemFloor(decodeItemId(itemId), scoring)
}

/** Builds what the result shows for repeating the eval. */
function buildRepeat(
  { suite, frontier, engine, server, model, samples_per_item, grading_rules, prompt }: EvalSpec,
  sha256: string | null,
) {
  return {
    suite: { ...suite, sha256 },
    ...(frontier && { frontier }),
    engine: { library: 'reasoning-gym', version: engine },
    server,
    model: model && { name: model.name, base_url: model.base_url },
    sampling: { ...model?.params, samples_per_item },
    ...grading_rules,
    ...prompt,
  }
}
