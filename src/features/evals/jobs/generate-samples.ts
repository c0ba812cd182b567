/**
 * A lane of an eval or collection: claims a sample, has it done, and the next; after a few it goes to the end of the queue,
 * so that all who are at work have their turn. Killed in the middle, the lane is taken up again with the sample it had.
 */
import { setInterval as ticks } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { isTemporaryFailure, ServiceError } from '../../../contract/errors.ts'
import { REQUEUE_ENGINE_DOWN, type Requeue } from '../../../platform/queue/job-definitions.ts'
import type { CollectionSampleProcessor } from '../collection-sample-processor.ts'
import type { EvalAggregator } from '../eval-aggregator.ts'
import { ItemChangedError } from '../eval-item-cache.ts'
import type { EvalSampleProcessor } from '../eval-sample-processor.ts'
import type { GenerationJobRepository, StoredGenerationJob } from '../generation-job-repository.ts'
import type { GenerationJobSpec } from '../generation-job-spec.ts'
import type { SampleRepository } from '../sample-repository.ts'

const MAX_SAMPLES_PER_TURN = 4
const MAX_TURN_MS = 5_000
const STATUS_POLL_INTERVAL_MS = 1_000
const SLOW_ITEM_RETRY_DELAY_MS = 2_000
/** Tries of a sample whose item takes too long to make; then the eval has failed. */
const SLOW_ITEM_MAX_ATTEMPTS = 4
/** Evals and collections whose tries are known here: more than can be at work. */
const MAX_TRACKED_JOBS = 1000

interface GenerateSamplesProcessorDeps {
  generationJobs: GenerationJobRepository
  samples: SampleRepository
  evalSampler: EvalSampleProcessor
  groupSampler: CollectionSampleProcessor
  aggregator: EvalAggregator
}

export function createGenerateSamplesProcessor({
  generationJobs: samplings,
  samples,
  evalSampler,
  groupSampler,
  aggregator: results,
}: GenerateSamplesProcessorDeps) {
  /** Tries of samples whose item took too long, by sampling. One that ends elsewhere is forgotten as the oldest. */
  const slow = new LRUCache<string, Map<number, number>>({ max: MAX_TRACKED_JOBS })

  const sampleOne = async (found: StoredGenerationJob, sample: number, lane: number, signal: AbortSignal) => {
    const spec = found.spec as GenerationJobSpec // as its maker wrote it
    try {
      const again =
        spec.kind === 'collection'
          ? await groupSampler.process(found, spec, sample, lane, signal)
          : await evalSampler.process(found, spec, sample, lane, signal)
      slow.get(found.id)?.delete(sample)
      return again
    } catch (error) {
      signal.throwIfAborted()
      return afterFailure(found.id, sample, error)
    }
  }

  /** What to do about a sample that could not be had now. */
  const afterFailure = async (id: string, sample: number, error: unknown): Promise<Requeue | undefined> => {
    if (error instanceof ItemChangedError) return fail(id, error.message)
    if (!(error instanceof ServiceError)) throw error
    if (error.code === 'engine_unavailable') return REQUEUE_ENGINE_DOWN
    if (error.code === 'make_timeout' || error.code === 'make_out_of_memory') {
      if (tried(id, sample) < SLOW_ITEM_MAX_ATTEMPTS) return { delayMs: SLOW_ITEM_RETRY_DELAY_MS }
    } else if (isTemporaryFailure(error)) throw error
    return fail(id, `An item cannot be made: ${error.message}`)
  }

  const tried = (id: string, sample: number): number => {
    const tries = slow.get(id) ?? new Map<number, number>()
    const count = (tries.get(sample) ?? 0) + 1
    slow.set(id, tries.set(sample, count))
    return count
  }

  const fail = async (id: string, reason: string): Promise<undefined> => {
    slow.delete(id)
    await results.finalize(id, 'failed', reason)
  }

  return async (
    { sampling: id, lane }: { sampling: string; lane: number },
    { signal: stopping }: { signal: AbortSignal },
  ): Promise<Requeue | undefined> => {
    const found = await samplings.get(id)
    if (!found) return undefined
    const over = new AbortController()
    const signal = AbortSignal.any([over.signal, stopping])
    const watch = abortWhenEnded(samplings, id, over)
    const until = performance.now() + MAX_TURN_MS
    try {
      for (let k = 0; k < MAX_SAMPLES_PER_TURN && performance.now() < until; k++) {
        const claim = await samples.claim(id, lane)
        if (claim.kind === 'ended') {
          slow.delete(id)
          return undefined
        }
        if (claim.kind === 'none') {
          const { done, total } = (await samplings.get(id)) ?? found
          if (done >= total) await results.finalize(id, 'done') // whoever did the last sample was killed before this
          return undefined
        }
        const again = await sampleOne(found, claim.sample, lane, signal)
        if (again) return again
      }
      return { delayMs: 0 }
    } catch (error) {
      if (over.signal.aborted) return undefined
      if (stopping.aborted) return { delayMs: 0 }
      throw error
    } finally {
      watch.close()
    }
  }
}

/** Aborts once the sampling is no longer at work, so that a cancel is felt within a second or two. */
function abortWhenEnded(samplings: GenerationJobRepository, id: string, over: AbortController): { close(): void } {
  const closed = new AbortController()
  const watch = async () => {
    for await (const _ of ticks(STATUS_POLL_INTERVAL_MS, undefined, { signal: closed.signal })) {
      const status = await samplings.getStatus(id).catch(() => 'running') // Redis is away: the sample goes on
      if (status !== 'queued' && status !== 'running') return over.abort()
    }
  }
  watch().catch(() => {}) // closed
  return { close: () => closed.abort() }
}
