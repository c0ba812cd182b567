/**
 * Stores generation jobs in Redis. A job is an eval or a collection: a number of samples requested from a model.
 * samples/repository.ts stores the samples.
 *
 * A job's own keys share a slot, and so do the lists that find jobs; the two slots differ. Creating a job lists it
 * before storing it, and deleting does the reverse, so a crash in between leaves an entry without a job and never the
 * opposite.
 */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { GenerationJobStatus, isActive } from '@reasoning-gym-server/contract/generation-job'
import type { Redis } from 'ioredis'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { formatChannel } from '../../platform/redis/notifications.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import { tryReadFrom } from '../../platform/redis/unreadable-entries.ts'
import { splitList } from '../../platform/split-list.ts'
import {
  createGenerationJobKeys,
  type GenerationJob,
  type GenerationJobKeys,
  type GenerationJobKind,
  type GenerationJobSpec,
  generationJobRecord,
  MAX_ACTIVE_MS,
  parseGenerationJob,
  SAMPLE_RETENTION_MS,
  SCRIPT_CONSTANTS,
} from './records.ts'

const folder = import.meta.dirname
const FIELDS = generationJobRecord.constants
const constants = SCRIPT_CONSTANTS
const endGenerationJob = defineScript(folder, 'end-generation-job', constants)
const reopenGenerationJob = defineScript(folder, 'reopen-generation-job', constants)
const deleteGenerationJob = defineScript(folder, 'delete-generation-job', constants)
const setWaitingFor = defineScript(folder, 'set-waiting-for', constants)

/** Limit on stored jobs of each kind; active jobs are never deleted. */
const MAX_RETAINED_JOBS = 2000
const MAX_ACTIVE_JOBS = 200
/** Longest time by which a list entry may be older than its job, because `create` writes one after the other. */
const CREATION_GRACE_MS = 60 * 60 * 1000
const ITEMS_PER_COMMAND = 500
const EVENTS_PER_READ = 500
const JOBS_PER_READ = 100
const KINDS: readonly GenerationJobKind[] = ['eval', 'collection']

interface NewGenerationJob {
  id: string
  spec: GenerationJobSpec
  total: number
  /** Item IDs in order; empty if the job claims items as it needs them. */
  items: string[]
  modelApiKey: string | undefined
}

interface JobEnd {
  status: GenerationJobStatus
  result: unknown
  detail?: string
  event: unknown
  /** `resumed_at` of the job when `result` was computed. */
  resumedAt?: number | null
}

type ResumedJob = Pick<GenerationJob, 'id' | 'resumed_at'>

export class GenerationJobRepository {
  readonly #redis: Redis
  readonly #keys: GenerationJobKeys
  readonly #channel: string
  readonly #maxRetained: number

  constructor(redis: Redis, keys: RedisKeys, maxRetained = MAX_RETAINED_JOBS) {
    this.#redis = redis
    this.#keys = createGenerationJobKeys(keys)
    this.#channel = formatChannel(keys)
    this.#maxRetained = maxRetained
  }

  /** Stores a new job. A second call with the same ID changes nothing. Throws `too_many_active`. */
  async create({ id, spec, total, items, modelApiKey }: NewGenerationJob): Promise<void> {
    const keys = this.#keys.forGenerationJob(id)
    if (await this.#redis.exists(keys.job)) return
    await this.#assertBelowActiveLimit()
    const now = redisNow()
    await this.#index(id, spec, now)
    if (modelApiKey !== undefined) await this.#redis.set(keys.modelApiKey, modelApiKey, 'PX', MAX_ACTIVE_MS)
    const transaction = this.#redis.multi().del(keys.items)
    for (const part of splitList(items, ITEMS_PER_COMMAND)) transaction.rpush(keys.items, ...part)
    const job = generationJobRecord.format({ spec, status: 'queued', total, created_at: now })
    await transaction.hset(keys.job, job).exec()
    await this.#deleteOldest(spec.kind)
  }

  async get(id: string): Promise<GenerationJob | undefined> {
    return parseGenerationJob(id, await this.#redis.hgetall(this.#keys.forGenerationJob(id).job))
  }

  async getStatus(id: string): Promise<GenerationJobStatus | undefined> {
    const status = await this.#redis.hget(this.#keys.forGenerationJob(id).job, FIELDS.status)
    return status === null ? undefined : GenerationJobStatus.parse(status)
  }

  /** Lists job IDs, newest first. */
  listIds(kind: GenerationJobKind): Promise<string[]> {
    return this.#redis.zrevrange(this.#keys.generationJobs(kind), 0, -1)
  }

  /**
   * Lists jobs of one run or of all runs, newest first. Takes one round trip for the list and one for each page of
   * jobs: the reads of a page are sent together (not as one pipeline, because jobs are on different nodes of a
   * cluster).
   */
  async *list(kind: GenerationJobKind, run?: string): AsyncGenerator<GenerationJob> {
    const index = run === undefined ? this.#keys.generationJobs(kind) : this.#keys.generationJobsOfRun(kind, run)
    const entries = await this.#listEntries(index)
    for (const page of splitList(entries, JOBS_PER_READ)) {
      // null: there is none
      const read = ({ id }: { id: string }) =>
        tryReadFrom(this.#redis, { key: index, name: id }, async () => (await this.get(id)) ?? null)
      const jobs = await Promise.all(page.map(read))
      const expired = page.filter(({ since }, at) => jobs[at] === null && redisNow() - since > CREATION_GRACE_MS)
      await Promise.all(expired.map(({ id }) => this.#unindex(kind, id)))
      yield* jobs.filter((job) => job !== undefined).filter((job) => job !== null)
    }
  }

  /** Lists active jobs, oldest first. `since` is when the job was created or last resumed, in ms. */
  async listActive(): Promise<{ id: string; since: number }[]> {
    return (await this.#listEntries(this.#keys.activeGenerationJobs)).toReversed()
  }

  async markInactive(id: string): Promise<void> {
    await this.#redis.zrem(this.#keys.activeGenerationJobs, id)
    if (isActive(await this.getStatus(id))) await this.#markActive(id) // it was resumed in the meantime
  }

  async getModelApiKey(id: string): Promise<string | undefined> {
    return (await this.#redis.get(this.#keys.forGenerationJob(id).modelApiKey)) ?? undefined
  }

  /** Whether the job's model has answered since the job began or was resumed. False if it was resumed later. */
  async hasModelAnswered({ id, resumed_at }: ResumedJob): Promise<boolean> {
    const { job } = this.#keys.forGenerationJob(id)
    const [answered, resumedAt] = await this.#redis.hmget(job, FIELDS.answered, FIELDS.resumed_at)
    return answered !== null && (resumedAt ?? '') === String(resumed_at ?? '')
  }

  async setWaitingFor(id: string, value: 'trainer' | null): Promise<void> {
    await setWaitingFor(this.#redis, this.#keys.forGenerationJob(id), [value ?? ''])
  }

  /** Returns the size of the stored outputs of a job, compressed. */
  async getOutputBytes(id: string): Promise<number> {
    return Number(await this.#redis.hget(this.#keys.forGenerationJob(id).job, FIELDS.output_bytes))
  }

  /** Sums the stored outputs of all jobs, without those that have expired. */
  async sumOutputBytes(): Promise<number> {
    const ids = (await Promise.all(KINDS.map((kind) => this.listIds(kind)))).flat()
    let sum = 0
    for (const page of splitList(ids, JOBS_PER_READ))
      for (const bytes of await Promise.all(page.map((id) => this.#readKeptBytes(id)))) sum += bytes
    return sum
  }

  async #readKeptBytes(id: string): Promise<number> {
    const { job } = this.#keys.forGenerationJob(id)
    const [bytes, endedAt] = await this.#redis.hmget(job, FIELDS.output_bytes, FIELDS.ended_at)
    return endedAt && redisNow() - Number(endedAt) > SAMPLE_RETENTION_MS ? 0 : Number(bytes)
  }

  /** Ends a job. Returns false if it had already ended. */
  async end(id: string, { status, result, detail = '', event, resumedAt = null }: JobEnd): Promise<boolean> {
    const keys = this.#keys.forGenerationJob(id)
    const end = {
      status,
      result: JSON.stringify(result),
      detail: detail.toWellFormed(), // cjson rejects half a surrogate pair
      now: redisNow(),
      event: JSON.stringify(event),
      channel: this.#channel,
      resumed_at: resumedAt === null ? '' : String(resumedAt),
    }
    const ended = await endGenerationJob(this.#redis, keys, [JSON.stringify(end)])
    await this.markInactive(id)
    return ended === 1
  }

  /** Deletes a job with everything that is stored of it. Returns false if it is active. */
  async delete(kind: GenerationJobKind, id: string): Promise<boolean> {
    const deleted = await deleteGenerationJob(this.#redis, this.#keys.forGenerationJob(id), [])
    if (deleted === 1) await this.#unindex(kind, id)
    return deleted === 1
  }

  /** Resumes a job. Returns false unless it has ended and its samples are still kept. Throws `too_many_active`. */
  async reopen(id: string, retrySamples: number[], modelApiKey: string | undefined): Promise<boolean> {
    await this.#assertBelowActiveLimit()
    const keys = this.#keys.forGenerationJob(id)
    // First, as in create: the sweeper only sees listed jobs. If this one stays ended, the sweeper removes it from the list.
    await this.#markActive(id)
    const args = [modelApiKey ?? '', redisNow(), JSON.stringify(retrySamples)]
    if ((await reopenGenerationJob(this.#redis, keys, args)) !== 1) return false
    await this.#markActive(id) // the process that ended it may have removed it in the meantime
    return true
  }

  /** Lists the events after `lastEventId` (or all events if that is ''), oldest first. */
  async listEvents(id: string, lastEventId: string): Promise<{ id: string; event: string; data: string }[]> {
    const from = /^\d+-\d+$/.test(lastEventId) ? `(${lastEventId}` : '-'
    const entries = await this.#redis.xrange(
      this.#keys.forGenerationJob(id).events,
      from,
      '+',
      'COUNT',
      EVENTS_PER_READ,
    )
    return entries.map(([eventId, [, event = '', , data = '']]) => ({ id: eventId, event, data }))
  }

  /** The topic of the notifications of new events. */
  getEventTopic(id: string): string {
    return this.#keys.forGenerationJob(id).events
  }

  async #assertBelowActiveLimit(): Promise<void> {
    if ((await this.#redis.zcard(this.#keys.activeGenerationJobs)) < MAX_ACTIVE_JOBS) return
    const detail = `This server has reached the limit of ${MAX_ACTIVE_JOBS} active evals and collections. Wait for one to end.`
    throw new ServiceError('too_many_active', detail)
  }

  /** Lists the entries, newest first. */
  async #listEntries(index: string): Promise<{ id: string; since: number }[]> {
    const pairs = await this.#redis.zrevrange(index, 0, -1, 'WITHSCORES')
    return splitList(pairs, 2).map(([id = '', since]) => ({ id, since: Number(since) }))
  }

  async #markActive(id: string): Promise<void> {
    await this.#redis.zadd(this.#keys.activeGenerationJobs, String(redisNow()), id)
  }

  async #deleteOldest(kind: GenerationJobKind): Promise<void> {
    const index = this.#keys.generationJobs(kind)
    for (const id of await this.#redis.zrange(index, '0', String(-this.#maxRetained - 1))) await this.delete(kind, id)
  }

  /** Adds a job to the lists that find it: all of its kind, those of its run, and the active ones. */
  async #index(id: string, { kind, run }: GenerationJobSpec, now: number): Promise<void> {
    const { generationJobs, generationJobsOfRun, activeGenerationJobs, generationJobRuns } = this.#keys
    if (run) await this.#redis.hset(generationJobRuns, id, run) // first: the removal from the lists needs it
    if (run) await this.#redis.zadd(generationJobsOfRun(kind, run), now, id)
    await this.#redis.zadd(activeGenerationJobs, now, id)
    await this.#redis.zadd(generationJobs(kind), now, id)
  }

  /** Removes a deleted job from every list. The run comes from Redis: the job itself may have expired. */
  async #unindex(kind: GenerationJobKind, id: string): Promise<void> {
    const { generationJobs, generationJobsOfRun, activeGenerationJobs, generationJobRuns } = this.#keys
    const run = await this.#redis.hget(generationJobRuns, id)
    if (run !== null) await this.#redis.zrem(generationJobsOfRun(kind, run), id)
    // no transaction, which a full Redis would reject; another call repeats what this one leaves behind
    await this.#redis.hdel(generationJobRuns, id)
    await this.#redis.zrem(activeGenerationJobs, id)
    await this.#redis.zrem(generationJobs(kind), id)
  }
}
