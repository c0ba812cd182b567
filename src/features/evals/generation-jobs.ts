/** Creates, lists, cancels and resumes generation jobs (evals, collections and duels) within their caller's quota. */
import { z } from 'zod'
import type { Caller } from '../../contract/caller.ts'
import { type ErrorCode, ServiceError } from '../../contract/errors.ts'
import type { GenerationJobStatus } from '../../contract/eval.ts'
import type { RunCondition } from '../../contract/run-condition.ts'
import type { Producer } from '../../platform/queue/producer.ts'
import { createCallToken, type Idempotency } from '../../platform/redis/idempotency.ts'
import type { ConcurrencyQuota } from './concurrency-quota.ts'
import type { EvalAggregator } from './eval-aggregator.ts'
import { isOfKind, type JobOfKind } from './generation-job-record.ts'
import type { GenerationJobRepository } from './generation-job-repository.ts'
import type { GenerationJobKind, SpecOfKind } from './generation-job-spec.ts'
import { streamJobEvents } from './job-event-stream.ts'
import { enqueueSlotJobs } from './job-slots.ts'

interface KindRules {
  /** Prefix of the job's ID. */
  idPrefix: string
  unknownCode: ErrorCode
  maxSamples: number
  resumable: readonly GenerationJobStatus[]
}

const KIND_RULES: Record<GenerationJobKind, KindRules> = {
  eval: {
    idPrefix: 'eval',
    unknownCode: 'unknown_eval',
    maxSamples: 200_000,
    resumable: ['cancelled', 'failed', 'done'], // a job that is done may have samples without a score
  },
  collection: {
    idPrefix: 'collect',
    unknownCode: 'unknown_collection',
    maxSamples: 1_000_000,
    resumable: ['cancelled', 'failed'],
  },
  duel: {
    idPrefix: 'duel',
    unknownCode: 'unknown_duel',
    maxSamples: 10_000,
    resumable: ['cancelled', 'failed'],
  },
}

/** The request that creates a job, apart from its body. */
export interface CreateRequest {
  caller: Caller
  idempotencyKey: string | undefined
  /** Condition on the run that the request names. */
  condition?: RunCondition | undefined
}

/** What a new job does. */
export interface JobDescription<Kind extends GenerationJobKind> {
  spec: SpecOfKind<Kind>
  samples: number
  /** Encoded items in order; empty if the job claims items as it needs them. */
  items: string[]
}

interface CreateJob<Kind extends GenerationJobKind, View> {
  kind: Kind
  input: object
  modelApiKey: string | undefined
  /** Scope of the idempotency key: requests with equal keys in different scopes are different requests. */
  scope: string
  describe: () => Promise<JobDescription<Kind>>
  buildView: (job: JobOfKind<Kind>) => View
}

interface GenerationJobsDeps {
  repository: GenerationJobRepository
  aggregator: EvalAggregator
  producer: Producer
  idempotency: Idempotency
  quota: ConcurrencyQuota
}

export class GenerationJobs {
  readonly #deps: GenerationJobsDeps

  constructor(deps: GenerationJobsDeps) {
    this.#deps = deps
  }

  /**
   * Creates a job. The same idempotency key and input return the same view of the same job. Throws `too_many_active`
   * and the errors of `describe`.
   */
  async create<Kind extends GenerationJobKind, View>(
    { caller, idempotencyKey }: CreateRequest,
    { kind, input, modelApiKey, scope, describe, buildView }: CreateJob<Kind, View>,
  ): Promise<View> {
    const { repository, idempotency, quota, producer } = this.#deps
    const { idPrefix, maxSamples } = KIND_RULES[kind]
    const request = { callerId: caller.id, scope: `${kind} ${scope}`, key: idempotencyKey, body: input }
    const perform = async (token = createCallToken()) => {
      const id = `${idPrefix}-${token}`
      const job = await quota.runWithinQuota(caller.id, id, async () => {
        const { spec, samples, items } = await describe()
        if (samples > maxSamples) throw tooManySamplesError(kind, samples)
        await repository.create({ id, spec, total: samples, items, modelApiKey })
        const created = await this.require(kind, id)
        await enqueueSlotJobs(producer, created)
        return created
      })
      const view = buildView(job)
      return { decision: view, answer: view }
    }
    const decision = z.custom<View>() // this function wrote the JSON
    return idempotency.runOnce(request, { decision, perform, replay: (view) => Promise.resolve(view) })
  }

  /** Returns undefined if the job does not exist or is of another kind. */
  async get<Kind extends GenerationJobKind>(kind: Kind, id: string): Promise<JobOfKind<Kind> | undefined> {
    const job = await this.#deps.repository.get(id)
    return job && isOfKind(job, kind) ? job : undefined
  }

  /** Returns the job. Throws `unknown_eval`, `unknown_collection` or `unknown_duel`. */
  async require<Kind extends GenerationJobKind>(kind: Kind, id: string): Promise<JobOfKind<Kind>> {
    return (await this.get(kind, id)) ?? throwUnknown(kind, id)
  }

  /** Lists up to `limit` jobs that `accept` returns true for, newest first. */
  async list<Kind extends GenerationJobKind>(
    kind: Kind,
    { run, limit, accept }: { run?: string | undefined; limit?: number; accept?: (job: JobOfKind<Kind>) => boolean },
  ): Promise<JobOfKind<Kind>[]> {
    const accepted: JobOfKind<Kind>[] = []
    for await (const job of this.#deps.repository.list(kind, run)) {
      if (accepted.length >= (limit ?? Number.POSITIVE_INFINITY)) break
      if (isOfKind(job, kind) && (accept?.(job) ?? true)) accepted.push(job)
    }
    return accepted
  }

  /** Cancels an active job; its result covers the samples that are done. A job that has ended does not change. */
  async cancel<Kind extends GenerationJobKind>(kind: Kind, id: string): Promise<JobOfKind<Kind>> {
    await this.#deps.aggregator.finalize(id, 'cancelled')
    return this.require(kind, id)
  }

  /** Resumes an ended job. Samples with a score are kept; the others are generated again. Throws `too_many_active`. */
  async resume<Kind extends GenerationJobKind>(
    kind: Kind,
    id: string,
    { caller, apiKey }: { caller: Caller; apiKey: string | undefined },
  ): Promise<JobOfKind<Kind>> {
    const { repository, aggregator, producer, quota } = this.#deps
    return quota.runWithinQuota(caller.id, id, async () => {
      const job = await this.require(kind, id)
      if (!KIND_RULES[kind].resumable.includes(job.status)) return job
      const failed = await aggregator.listFailedSamples(job)
      if (!(await repository.reopen(id, failed, apiKey))) throwUnknown(kind, id)
      await enqueueSlotJobs(producer, job)
      return this.require(kind, id)
    })
  }

  /** Streams server-sent events: progress, then the result. */
  streamEvents(id: string, lastEventId: string, signal: AbortSignal): AsyncGenerator<string> {
    return streamJobEvents(this.#deps.repository, id, lastEventId, signal)
  }
}

function throwUnknown(kind: GenerationJobKind, id: string): never {
  const detail = `There is no ${kind} ${JSON.stringify(id)}, or the server no longer keeps it`
  throw new ServiceError(KIND_RULES[kind].unknownCode, detail)
}

function tooManySamplesError(kind: GenerationJobKind, samples: number): ServiceError {
  const { maxSamples } = KIND_RULES[kind]
  return new ServiceError(
    'invalid_request',
    `This ${kind} would have ${samples} samples, but the limit is ${maxSamples}. Request fewer.`,
  )
}
