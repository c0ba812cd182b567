/**
 * Works on one slot of an eval or collection: claims a sample, has it generated, and takes the next one. After a few samples
 * the slot goes to the end of the queue, so that all active evals get their turn. If the worker is killed, another one takes
 * the slot with the sample that it had claimed.
 */
import { setInterval as ticks } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { isTemporaryFailure, ServiceError } from '../../../contract/errors.ts'
import { type JobAttempt, REQUEUE_ON_OTHER_WORKER, type Requeue } from '../../../platform/queue/job-definition.ts'
import type { CollectionSampleProcessor } from '../collection-sample-processor.ts'
import type { EvalAggregator } from '../eval-aggregator.ts'
import { ItemChangedError } from '../eval-item-cache.ts'
import type { EvalSampleProcessor } from '../eval-sample-processor.ts'
import type { GenerationJobRepository, StoredGenerationJob } from '../generation-job-repository.ts'
import type { GenerationJobSpec } from '../generation-job-spec.ts'
import type { SampleRepository } from '../sample-repository.ts'
import type { GenerateSamplesJobData } from './definitions.ts'

const MAX_SAMPLES_PER_TURN = 4
const MAX_TURN_MS = 5_000
const STATUS_POLL_INTERVAL_MS = 1_000
const SLOW_ITEM_RETRY_DELAY_MS = 2_000
/** Attempts for a sample whose item takes too long to make; after them the eval fails. */
const SLOW_ITEM_MAX_ATTEMPTS = 4
/** Evals and collections whose attempts this process counts: more than can be active at once. */
const MAX_TRACKED_JOBS = 1000

interface GenerateSamplesProcessorDeps {
  generationJobs: GenerationJobRepository
  samples: SampleRepository
  evalSampler: EvalSampleProcessor
  groupSampler: CollectionSampleProcessor
  aggregator: EvalAggregator
}

export function createGenerateSamplesProcessor({
  generationJobs,
  samples,
  evalSampler,
  groupSampler,
  aggregator,
}: GenerateSamplesProcessorDeps) {
  /** Attempts by eval and sample, for items that took too long or too much memory. The oldest evals drop out. */
  const slowItemAttempts = new LRUCache<string, Map<number, number>>({ max: MAX_TRACKED_JOBS })

  const generateSample = async (job: StoredGenerationJob, sample: number, slot: number, signal: AbortSignal) => {
    const spec = job.spec as GenerationJobSpec // as its maker wrote it
    try {
      const requeue =
        spec.kind === 'collection'
          ? await groupSampler.process(job, spec, sample, slot, signal)
          : await evalSampler.process(job, spec, sample, slot, signal)
      slowItemAttempts.get(job.id)?.delete(sample)
      return requeue
    } catch (error) {
      signal.throwIfAborted()
      return handleFailure(job.id, sample, error)
    }
  }

  /** Requeues a sample that cannot be generated now, or fails the eval. */
  const handleFailure = async (id: string, sample: number, error: unknown): Promise<Requeue | undefined> => {
    if (error instanceof ItemChangedError) return fail(id, error.message)
    if (!(error instanceof ServiceError)) throw error
    if (error.code === 'engine_unavailable') return REQUEUE_ON_OTHER_WORKER
    if (error.code === 'make_timeout' || error.code === 'make_out_of_memory') {
      if (countAttempt(id, sample) < SLOW_ITEM_MAX_ATTEMPTS) return { delayMs: SLOW_ITEM_RETRY_DELAY_MS }
    } else if (isTemporaryFailure(error)) throw error
    return fail(id, `Item generation failed: ${error.message}`)
  }

  const countAttempt = (id: string, sample: number): number => {
    const attempts = slowItemAttempts.get(id) ?? new Map<number, number>()
    const count = (attempts.get(sample) ?? 0) + 1
    slowItemAttempts.set(id, attempts.set(sample, count))
    return count
  }

  const fail = async (id: string, reason: string): Promise<undefined> => {
    slowItemAttempts.delete(id)
    await aggregator.finalize(id, 'failed', reason)
  }

  return async (
    { job: id, slot }: GenerateSamplesJobData,
    { signal: shutdownSignal }: Pick<JobAttempt, 'signal'>,
  ): Promise<Requeue | undefined> => {
    const job = await generationJobs.get(id)
    if (!job) return undefined
    const ended = new AbortController()
    const signal = AbortSignal.any([ended.signal, shutdownSignal])
    const statusWatcher = abortWhenEnded(generationJobs, id, ended)
    const deadline = performance.now() + MAX_TURN_MS
    try {
      for (let k = 0; k < MAX_SAMPLES_PER_TURN && performance.now() < deadline; k++) {
        const claim = await samples.claim(id, slot)
        if (claim.kind === 'ended') {
          slowItemAttempts.delete(id)
          return undefined
        }
        if (claim.kind === 'none') {
          const { done, total } = (await generationJobs.get(id)) ?? job
          if (done >= total) await aggregator.finalize(id, 'done') // the worker of the last sample was killed before this
          return undefined
        }
        const requeue = await generateSample(job, claim.sample, slot, signal)
        if (requeue) return requeue
      }
      return { delayMs: 0 }
    } catch (error) {
      if (ended.signal.aborted) return undefined
      if (shutdownSignal.aborted) return { delayMs: 0 }
      throw error
    } finally {
      statusWatcher.close()
    }
  }
}

/** Aborts once the eval is no longer active, so that a cancellation takes effect within a second or two. */
function abortWhenEnded(
  generationJobs: GenerationJobRepository,
  id: string,
  ended: AbortController,
): { close(): void } {
  const closed = new AbortController()
  const watch = async () => {
    for await (const _ of ticks(STATUS_POLL_INTERVAL_MS, undefined, { signal: closed.signal })) {
      const status = await generationJobs.getStatus(id).catch(() => 'running') // without Redis the sample continues
      if (status !== 'queued' && status !== 'running') return ended.abort()
    }
  }
  watch().catch(() => {}) // closed
  return { close: () => closed.abort() }
}
