/**
 * Runs one slot of a generation job: claims a sample, processes it, then claims the next. After a few samples the slot
 * goes to the end of the queue, so that all active jobs share the workers. If its worker is killed, the slot continues
 * with the sample that it had.
 */
import { setInterval as ticks } from 'node:timers/promises'
import { isTemporaryFailure, ServiceError } from '@reasoning-gym-server/contract/errors'
import { isActive } from '@reasoning-gym-server/contract/generation-job'
import { LRUCache } from 'lru-cache'
import { type JobAttempt, REQUEUE_ON_OTHER_WORKER, type Requeue } from '../../platform/queue/job-definition.ts'
import type { JobAggregator } from './aggregator.ts'
import type { GenerateSamplesJobData } from './concurrency.ts'
import type { CollectionSampleProcessor } from './kinds/collection-samples.ts'
import type { EvalSampleProcessor } from './kinds/eval-samples.ts'
import { ModelClientClosedError, ModelUnavailableError } from './models/model-errors.ts'
import { type GenerationJob, isOfKind } from './records.ts'
import type { GenerationJobRepository } from './repository.ts'
import type { SampleRepository } from './samples/repository.ts'
import { ItemChangedError } from './suites.ts'

const MAX_SAMPLES_PER_TURN = 4
const MAX_TURN_MS = 5_000
/** Polls: a cancellation may take a second, and one read per slot and second costs less than a subscription per job. */
const STATUS_POLL_INTERVAL_MS = 1_000
const SLOW_ITEM_RETRY_DELAY_MS = 2_000
/** Number of failures to create a sample's item (timeout or memory) after which the job fails. */
const SLOW_ITEM_MAX_ATTEMPTS = 4
/** Limit on the jobs whose attempts this process counts, higher than the number that can be active. */
const MAX_TRACKED_JOBS = 1000

interface GenerateSamplesProcessorDeps {
  generationJobs: GenerationJobRepository
  samples: SampleRepository
  evalSampleProcessor: EvalSampleProcessor
  collectionSampleProcessor: CollectionSampleProcessor
  aggregator: JobAggregator
}

export function createGenerateSamplesProcessor({
  generationJobs,
  samples,
  evalSampleProcessor,
  collectionSampleProcessor,
  aggregator,
}: GenerateSamplesProcessorDeps) {
  /** Attempts of samples whose item could not be created, keyed by job. Jobs that end on another node are evicted as the oldest. */
  const slowItemAttempts = new LRUCache<string, Map<number, number>>({ max: MAX_TRACKED_JOBS })

  const processSample = async (job: GenerationJob, sample: number, slot: number, signal: AbortSignal) => {
    try {
      const requeue = await dispatch(job, sample, slot, signal)
      slowItemAttempts.get(job.id)?.delete(sample)
      return requeue
    } catch (error) {
      signal.throwIfAborted()
      return handleFailure(job, sample, error)
    }
  }

  const dispatch = async (job: GenerationJob, sample: number, slot: number, signal: AbortSignal) => {
    if (isOfKind(job, 'collection')) return collectionSampleProcessor.process(job, sample, slot, signal)
    if (isOfKind(job, 'eval')) return evalSampleProcessor.process(job, sample, slot, signal)
    return undefined
  }

  /** Retries later, throws an error that the queue retries, or fails the job. */
  const handleFailure = async (job: GenerationJob, sample: number, error: unknown): Promise<Requeue> => {
    if (error instanceof ItemChangedError || error instanceof ModelUnavailableError) return failJob(job, error.message)
    // the next turn opens another client, unless the job has ended
    if (error instanceof ModelClientClosedError) return { delayMs: 0 }
    if (!(error instanceof ServiceError)) throw error
    if (error.code === 'run_recreated') return failJob(job, 'The run was deleted or lost')
    if (error.code === 'engine_unavailable' || error.code === 'task_code_conflict') return REQUEUE_ON_OTHER_WORKER
    if (error.code === 'make_timeout' || error.code === 'make_out_of_memory') {
      if (countSlowItemAttempt(job.id, sample) < SLOW_ITEM_MAX_ATTEMPTS) return { delayMs: SLOW_ITEM_RETRY_DELAY_MS }
    } else if (isTemporaryFailure(error)) throw error
    return failJob(job, `An item cannot be created: ${error.message}`)
  }

  const countSlowItemAttempt = (id: string, sample: number): number => {
    const attempts = slowItemAttempts.get(id) ?? new Map<number, number>()
    const count = (attempts.get(sample) ?? 0) + 1
    slowItemAttempts.set(id, attempts.set(sample, count))
    return count
  }

  /** If another slot had failed the job and it was resumed since, the next turn goes on with the new key. */
  const failJob = async (job: GenerationJob, reason: string): Promise<Requeue> => {
    slowItemAttempts.delete(job.id)
    await aggregator.finalize(job.id, 'failed', reason, job)
    return { delayMs: 0 }
  }

  return async (
    { job: id, slot }: GenerateSamplesJobData,
    { signal: shutdownSignal }: Pick<JobAttempt, 'signal'>,
  ): Promise<Requeue | undefined> => {
    const job = await generationJobs.get(id)
    if (!job) return undefined
    const jobEnded = new AbortController()
    const signal = AbortSignal.any([jobEnded.signal, shutdownSignal])
    const watch = abortWhenEnded(generationJobs, id, jobEnded)
    const deadline = performance.now() + MAX_TURN_MS
    try {
      for (let k = 0; k < MAX_SAMPLES_PER_TURN && performance.now() < deadline; k++) {
        const claim = await samples.claim(id, slot)
        if (claim.kind === 'ended') {
          slowItemAttempts.delete(id)
          return undefined
        }
        if (claim.kind === 'none') {
          // the worker of the last sample may have been killed before it ended the job
          await aggregator.finalizeWhenOver(id)
          return undefined
        }
        const requeue = await processSample(job, claim.sample, slot, signal)
        if (requeue) return requeue
      }
      return { delayMs: 0 }
    } catch (error) {
      if (jobEnded.signal.aborted) return undefined
      if (shutdownSignal.aborted) return { delayMs: 0 }
      throw error
    } finally {
      watch.close()
    }
  }
}

/** Aborts once the job is no longer active, so that a cancellation takes effect within a second or two. */
function abortWhenEnded(
  generationJobs: GenerationJobRepository,
  id: string,
  controller: AbortController,
): { close(): void } {
  const closed = new AbortController()
  const watch = async () => {
    for await (const _ of ticks(STATUS_POLL_INTERVAL_MS, undefined, { signal: closed.signal })) {
      // Redis is unavailable: continue
      const status = await generationJobs.getStatus(id).catch(() => 'running' as const)
      if (!isActive(status)) return controller.abort()
    }
  }
  watch().catch(() => {}) // closed
  return { close: () => closed.abort() }
}
