/** Ends generation jobs with the result of their samples. Any process may do so, and repeating it has no effect. */
import { type GenerationJobStatus, isActive } from '@reasoning-gym-server/contract/generation-job'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import type { JobKind, JobKinds } from './job-kinds.ts'
import { type GenerationJob, type GenerationJobKind, isOfKind, type JobOfKind } from './records.ts'
import type { GenerationJobRepository } from './repository.ts'
import { listFailures } from './samples/failure-reasons.ts'
import type { RecordSampleResult } from './samples/repository.ts'

/** Number of samples after which a job fails if all of them have failed for the same reason. */
const MAX_EQUAL_FAILURES = 32

interface JobAggregatorDeps {
  generationJobs: GenerationJobRepository
  kinds: JobKinds
}

export class JobAggregator {
  readonly #deps: JobAggregatorDeps

  constructor(deps: JobAggregatorDeps) {
    this.#deps = deps
  }

  /** Ends the job with its result. Does nothing unless the job is active, nor if it was resumed since it was `seen`. */
  async finalize(id: string, status: GenerationJobStatus, detail = '', seen?: GenerationJob): Promise<void> {
    const { generationJobs, kinds } = this.#deps
    const job = await generationJobs.get(id)
    if (!job || !isActive(job.status) || (seen && seen.resumed_at !== job.resumed_at)) return
    const ending = { ...job, status, detail: detail || null }
    if (isOfKind(ending, 'eval')) await this.#end(ending, kinds.eval)
    else if (isOfKind(ending, 'collection')) await this.#end(ending, kinds.collection)
  }

  /**
   * Ends the job if the sample that was just recorded is its last, or if its first samples have all failed in the same
   * way, as the others would. Returns whether it has ended.
   */
  async finalizeIfOver(id: string, result: RecordSampleResult): Promise<boolean> {
    if (result.kind !== 'recorded') return false
    const isHopeless = result.done >= MAX_EQUAL_FAILURES && result.sameFailures >= result.done
    return isHopeless || result.done >= result.total ? this.finalizeWhenOver(id) : false
  }

  /**
   * Ends the job if it is over, and decides how: as failed if no sample has a score, otherwise as done. Every slot that
   * finds the job over decides by what is stored, so it does not matter which one comes first.
   */
  async finalizeWhenOver(id: string): Promise<boolean> {
    const job = await this.#deps.generationJobs.get(id)
    if (!job) return false
    const { done, total, failed, failures } = job
    const isComplete = done >= total
    if (done >= MAX_EQUAL_FAILURES && failures.some(({ count }) => count >= done))
      await this.failForMainReason(id, `The first ${MAX_EQUAL_FAILURES} samples failed in the same way`)
    else if (isComplete && failed >= done && failsWithoutScore(job))
      await this.failForMainReason(id, `None of the ${total} samples has a score. Most frequent reason`)
    else if (isComplete) await this.finalize(id, 'done')
    else return false
    return true
  }

  /** Fails the job with a sentence that the most frequent reason of its failures completes. */
  async failForMainReason(id: string, sentence: string): Promise<void> {
    const [first] = listFailures((await this.#deps.generationJobs.get(id))?.failures ?? [])
    await this.finalize(id, 'failed', `${sentence}: ${first?.reason || 'unknown'}`)
  }

  async #end<Kind extends GenerationJobKind>(job: JobOfKind<Kind>, kind: JobKind<Kind>): Promise<void> {
    const result = await kind.aggregate(job)
    const event = kind.buildEvent(kind.buildView({ ...job, result, ended_at: redisNow() }))
    const { id, status, detail, resumed_at: resumedAt } = job
    await this.#deps.generationJobs.end(id, { status, result, detail: detail ?? '', event, resumedAt })
  }
}

/**
 * Whether the job has failed if none of its samples has a score. A collection has not: its groups are in the run, and a
 * sample without a score may be a rollout that is too short. Posted completions are the caller's: there is no model.
 */
function failsWithoutScore({ spec }: GenerationJob): boolean {
  return spec.kind !== 'collection' && spec.model !== null
}
