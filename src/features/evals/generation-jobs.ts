/** The operations of the API on the generation jobs of one kind: create, list, get, cancel, delete, resume and stream events. */

import { type Caller, canAccessRun } from '@reasoning-gym-server/contract/caller'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { isActive } from '@reasoning-gym-server/contract/generation-job'
import type { RunCondition } from '@reasoning-gym-server/contract/run'
import { z } from 'zod'
import type { Producer } from '../../platform/queue/queues.ts'
import { createCallToken, type Idempotency } from '../../platform/redis/idempotency.ts'
import type { Notifications } from '../../platform/redis/notifications.ts'
import type { Runs } from '../runs/runs.ts'
import type { ActiveJobQuota } from './active-job-quota.ts'
import type { JobAggregator } from './aggregator.ts'
import { enqueueSlotJobs } from './concurrency.ts'
import { type FilterOf, type InputOf, type JobKind, KIND_RULES, type SummaryOf, type ViewOf } from './job-kinds.ts'
import { type GenerationJobKind, isOfKind, type JobOfKind } from './records.ts'
import type { GenerationJobRepository } from './repository.ts'
import type { SampleRepository } from './samples/repository.ts'
import { listFailedSamples } from './samples/stream.ts'

const HEARTBEAT_INTERVAL_MS = 15_000
/** Time after which the client must reconnect with the ID of the last event that it has. */
const MAX_STREAM_MS = 60 * 60_000

/** The request that creates a job, apart from its body. */
interface CreateRequest {
  caller: Caller
  idempotencyKey: string | undefined
  /** Run in whose path the job is created, for a kind whose jobs are resources of a run. */
  run?: string | undefined
  condition?: RunCondition | undefined
}

export interface JobAddress {
  id: string
  caller: Caller
  /** Run in whose path the request looks for the job. */
  run?: string | undefined
}

interface GenerationJobsDeps {
  repository: GenerationJobRepository
  samples: SampleRepository
  runs: Runs
  aggregator: JobAggregator
  producer: Producer
  idempotency: Idempotency
  notifications: Notifications
  quota: ActiveJobQuota
}

export class GenerationJobs<Kind extends GenerationJobKind> {
  readonly #kind: JobKind<Kind>
  readonly #deps: GenerationJobsDeps

  constructor(kind: JobKind<Kind>, deps: GenerationJobsDeps) {
    this.#kind = kind
    this.#deps = deps
  }

  /**
   * Creates a job. The same idempotency key and input return the same view of the same job. Throws `too_many_active`,
   * `run_recreated` if the run does not meet the condition, and what the kind's `describe` throws.
   */
  async create(
    input: InputOf<Kind>,
    { caller, idempotencyKey, run: pathRun, condition }: CreateRequest,
  ): Promise<ViewOf<Kind>> {
    const { repository, idempotency, quota, producer, runs } = this.#deps
    const { kind } = this.#kind
    const { idPrefix, maxSamples } = KIND_RULES[kind]
    const runName = pathRun ?? this.#kind.getRunName(input)
    // a repeated call does not describe the job
    if (condition !== undefined && runName !== undefined) await runs.require(runName, condition)
    const perform = async (token = createCallToken()) => {
      const id = `${idPrefix}-${token}`
      const job = await quota.runWithinQuota(caller.id, id, async () => {
        const run =
          runName === undefined ? undefined : await runs.requireOrCreateDefault(runName, condition, { caller })
        const { spec, samples, items } = await this.#kind.describe(input, run)
        if (spec.model) spec.model.hides_replies = caller.role !== 'admin'
        if (samples > maxSamples)
          throw new ServiceError(
            'invalid_request',
            `This ${kind} would have ${samples} samples, but the limit is ${maxSamples}. Request fewer.`,
          )
        const modelApiKey = this.#kind.getApiKey(input)
        await repository.create({ id, spec, total: samples, items, modelApiKey })
        const created = await this.#require(id)
        await enqueueSlotJobs(producer, created)
        return created
      })
      const view = this.#kind.buildView(job)
      return { decision: view, answer: view }
    }
    const request = { callerId: caller.id, scope: `${kind} ${pathRun ?? ''}`, key: idempotencyKey, body: input }
    const decision = z.custom<ViewOf<Kind>>() // this function wrote the JSON
    return idempotency.runOnce(request, { decision, perform, replay: (view) => Promise.resolve(view) })
  }

  /** Lists jobs, newest first. Throws `unknown_run` and `run_recreated` if the jobs are resources of a run. */
  async list(filter: FilterOf<Kind>, condition?: RunCondition): Promise<SummaryOf<Kind>[]> {
    const { repository, runs } = this.#deps
    const { kind } = this.#kind
    const { run, limit = Number.POSITIVE_INFINITY } = filter
    if (KIND_RULES[kind].isOfRun && run !== undefined) await runs.require(run, condition)
    const found: SummaryOf<Kind>[] = []
    for await (const job of repository.list(kind, run)) {
      if (found.length >= limit) break
      if (isOfKind(job, kind) && this.#kind.matches(job, filter)) found.push(this.#kind.buildSummary(job))
    }
    return found
  }

  /** Returns the job. Throws `unknown_eval` or `unknown_collection`, and `forbidden` if the caller's key is bound to other runs. */
  async require({ id, caller, run }: JobAddress): Promise<JobOfKind<Kind>> {
    const { kind } = this.#kind
    const job = await this.#require(id)
    const jobRun: string | null = job.spec.run
    if (run !== undefined && jobRun !== run)
      throw new ServiceError(
        KIND_RULES[kind].unknownCode,
        `The run ${run} has no ${kind} ${JSON.stringify(id)}. Check the ID.`,
      )
    if (jobRun !== null && !canAccessRun(caller, jobRun))
      throw new ServiceError(
        'forbidden',
        `This API key may not access the run ${jobRun}, to which the ${kind} belongs. Use a key that is bound to it, or an unbound key.`,
      )
    return job
  }

  async requireView(address: JobAddress): Promise<ViewOf<Kind>> {
    return this.#kind.buildView(await this.require(address))
  }

  /** Cancels an active job; its result covers the samples that are done. A job that has ended does not change. */
  async cancel(address: JobAddress): Promise<ViewOf<Kind>> {
    await this.require(address)
    await this.#deps.aggregator.finalize(address.id, 'cancelled')
    return this.#kind.buildView(await this.#require(address.id))
  }

  /**
   * Deletes an ended job with everything that is stored of it, and returns it as it was. The groups of a collection stay.
   * Throws `invalid_request` if the job is active.
   */
  async delete(address: JobAddress): Promise<ViewOf<Kind>> {
    const { kind } = this.#kind
    const job = await this.require(address)
    if (!(await this.#deps.repository.delete(kind, address.id)))
      throw new ServiceError('invalid_request', `This ${kind} is ${job.status}. Cancel it before you delete it.`)
    return this.#kind.buildView(job)
  }

  /**
   * Resumes an ended job. Samples with a score are kept; the others are generated again. Throws `too_many_active`, and
   * `invalid_request` if the completions are posted.
   */
  async resume(address: JobAddress, apiKey: string | undefined): Promise<ViewOf<Kind>> {
    const { repository, samples, producer, quota } = this.#deps
    const { kind } = this.#kind
    const { id, caller } = address
    const { spec } = await this.require(address)
    if (!spec.model)
      throw new ServiceError(
        'invalid_request',
        `This ${kind} cannot be resumed: its completions are posted. Submit the missing completions instead.`,
      )
    const resumed = await quota.runWithinQuota(caller.id, id, async () => {
      const job = await this.#require(id)
      if (!KIND_RULES[kind].resumable.includes(job.status)) return job
      const failed = await listFailedSamples(samples, job)
      const isReopened = await repository.reopen(id, failed, apiKey)
      if (isReopened) await enqueueSlotJobs(producer, job)
      const now = await this.#require(id)
      if (!isReopened && !isActive(now.status)) throw unknownJobError(kind, id) // another call may have resumed it
      return now
    })
    return this.#kind.buildView(resumed)
  }

  /** Streams server-sent events: progress, then the result. `lastEventId` is the ID of the client's last event, or ''. */
  async streamEvents(address: JobAddress, lastEventId: string, signal: AbortSignal): Promise<AsyncGenerator<string>> {
    await this.require(address)
    return streamJobEvents(this.#deps, address.id, lastEventId, signal)
  }

  /** Also throws the unknown code if the job is of another kind. */
  async #require(id: string): Promise<JobOfKind<Kind>> {
    const { kind } = this.#kind
    const job = await this.#deps.repository.get(id)
    if (!job || !isOfKind(job, kind)) throw unknownJobError(kind, id)
    return job
  }
}

function unknownJobError(kind: GenerationJobKind, id: string): ServiceError {
  const detail = `There is no ${kind} ${JSON.stringify(id)}, or the server no longer keeps it. Check the ID.`
  return new ServiceError(KIND_RULES[kind].unknownCode, detail, { missing: { kind, name: id } })
}

async function* streamJobEvents(
  { repository, notifications }: Pick<GenerationJobsDeps, 'repository' | 'notifications'>,
  jobId: string,
  lastEventId: string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const listener = notifications.listen(repository.getEventTopic(jobId))
  let after = lastEventId
  let lastSentAt = performance.now()
  const deadline = lastSentAt + MAX_STREAM_MS
  try {
    yield 'retry: 2000\n\n'
    while (!signal.aborted && !notifications.closed && performance.now() < deadline) {
      const events = await repository.listEvents(jobId, after)
      for (const { id, event, data } of events) {
        yield `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`
        after = id
        if (event === 'result' && !isActive(await repository.getStatus(jobId))) return // otherwise it was resumed since
      }
      if (events.length > 0) {
        lastSentAt = performance.now()
      } else {
        const hasEnded = !isActive(await repository.getStatus(jobId))
        if (hasEnded && (await repository.listEvents(jobId, after)).length === 0) return
        if (performance.now() - lastSentAt > HEARTBEAT_INTERVAL_MS) {
          yield ': heartbeat\n\n'
          lastSentAt = performance.now()
        }
      }
      await listener.wait({ timeoutMs: HEARTBEAT_INTERVAL_MS, signal })
    }
  } finally {
    listener.close()
  }
}
