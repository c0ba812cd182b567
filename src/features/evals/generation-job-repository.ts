/**
 * Samplings in Redis: an eval or a collection is so many samples wanted of a model; samples.ts has those.
 *   queued → running → done | failed | cancelled,   cancelled | failed | done → running when it is resumed
 */
import type { Redis } from 'ioredis'
import { ServiceError } from '../../contract/errors.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import { type AllGenerationJobKeys, createGenerationJobKeys } from './keys.ts'

const endGenerationJob = defineScript({
  folder: import.meta.dirname,
  name: 'end-generation-job',
  keys: ['job', 'modelApiKey', 'items', 'completions', 'verdicts', 'claims', 'retries', 'events'],
})
const reopenGenerationJob = defineScript({
  folder: import.meta.dirname,
  name: 'reopen-generation-job',
  keys: ['job', 'modelApiKey', 'items', 'completions', 'verdicts', 'claims', 'retries', 'events'],
})
const deleteGenerationJob = defineScript({
  folder: import.meta.dirname,
  name: 'delete-generation-job',
  keys: ['job', 'modelApiKey', 'items', 'completions', 'verdicts', 'claims', 'retries', 'events', 'itemLock'],
})

const DAY_MS = 24 * 60 * 60 * 1000
/** A sampling that does not come to an end is ended by the sweeper after this time; its key lives no longer. */
export const MAX_ACTIVE_MS = 7 * DAY_MS
/** After its end; the result is kept for longer. */
export const SAMPLE_RETENTION_MS = 7 * DAY_MS
const RESULT_RETENTION_MS = 90 * DAY_MS
/** Samplings of each kind that are remembered; those at work are kept beyond it. */
const MAX_RETAINED_JOBS = 2000
const MAX_ACTIVE_JOBS = 200
const PAGE_SIZE = 500

export type StoredGenerationJobStatus = 'queued' | 'running' | 'done' | 'failed' | 'cancelled'
export type GenerationJobKind = 'eval' | 'collection'

export interface StoredGenerationJob {
  id: string
  status: StoredGenerationJobStatus
  /** As its maker wrote it. */
  spec: unknown
  total: number
  done: number
  failed: number
  /** Sum of the scores so far. */
  score: number
  created: number
  started: number | null
  ended: number | null
  /** When it was made or last resumed. */
  lastStartedAt: number
  result: unknown
  detail: string | null
}

export interface GenerationJobEvent {
  id: string
  event: string
  data: string
}

export class GenerationJobRepository {
  readonly #redis: Redis
  readonly #keys: AllGenerationJobKeys
  readonly #maxRetained: number

  constructor(redis: Redis, keys: RedisKeys, kept = MAX_RETAINED_JOBS) {
    this.#redis = redis
    this.#keys = createGenerationJobKeys(keys)
    this.#maxRetained = kept
  }

  /** Made once: a second call with the same id changes nothing. Throws `too_many_active` if too many are active. */
  async create(
    kind: GenerationJobKind,
    { id, spec, total, items, modelApiKey: secret }: NewGenerationJob,
  ): Promise<void> {
    const keys = this.#keys.forGenerationJob(id)
    if (await this.#redis.exists(keys.job)) return
    await this.#assertBelowActiveLimit()
    const now = Date.now()
    // The hash comes last: it is what says that the sampling is there.
    await this.#redis.zadd(this.#keys.generationJobs(kind), String(now), id)
    await this.#redis.zadd(this.#keys.activeGenerationJobs, String(now), id)
    if (secret !== undefined) await this.#redis.set(keys.modelApiKey, secret, 'PX', MAX_ACTIVE_MS)
    const making = this.#redis.multi().del(keys.items)
    for (let k = 0; k < items.length; k += PAGE_SIZE) making.rpush(keys.items, ...items.slice(k, k + PAGE_SIZE))
    await making.hset(keys.job, { spec: JSON.stringify(spec), status: 'queued', total, created: now }).exec()
    await this.#deleteOldest(kind)
  }

  async get(id: string): Promise<StoredGenerationJob | undefined> {
    const fields = await this.#redis.hgetall(this.#keys.forGenerationJob(id).job)
    if (fields.status === undefined) return undefined
    const number = (name: string) => Number(fields[name] ?? 0)
    return {
      id,
      status: fields.status as StoredGenerationJobStatus, // written by create and the scripts
      spec: JSON.parse(fields.spec ?? 'null') as unknown,
      total: number('total'),
      done: number('done'),
      failed: number('failed'),
      score: number('score'),
      created: number('created'),
      started: fields.started === undefined ? null : Number(fields.started),
      ended: fields.ended === undefined ? null : Number(fields.ended),
      lastStartedAt: number(fields.resumed === undefined ? 'created' : 'resumed'),
      result: fields.result ? (JSON.parse(fields.result) as unknown) : null,
      detail: fields.detail || null,
    }
  }

  async getStatus(id: string): Promise<StoredGenerationJobStatus | undefined> {
    const status = await this.#redis.hget(this.#keys.forGenerationJob(id).job, 'status')
    return (status ?? undefined) as StoredGenerationJobStatus | undefined // as in find
  }

  /** Newest first. */
  listIds(kind: GenerationJobKind): Promise<string[]> {
    return this.#redis.zrevrange(this.#keys.generationJobs(kind), 0, -1)
  }

  async listActive(): Promise<{ id: string; since: number }[]> {
    const found = await this.#redis.zrange(this.#keys.activeGenerationJobs, '0', '-1', 'WITHSCORES')
    return Array.from({ length: found.length / 2 }, (_, k) => ({
      id: found[2 * k] ?? '',
      since: Number(found[2 * k + 1]),
    }))
  }

  /** Takes what has ended off the list of those at work. */
  async markInactive(id: string): Promise<void> {
    await this.#redis.zrem(this.#keys.activeGenerationJobs, id)
    const status = await this.getStatus(id)
    if (status === 'queued' || status === 'running') await this.#markActive(id) // resumed at the same time
  }

  async getModelApiKey(id: string): Promise<string | undefined> {
    return (await this.#redis.get(this.#keys.forGenerationJob(id).modelApiKey)) ?? undefined
  }

  async setField(id: string, field: 'paused', value: string): Promise<void> {
    await this.#redis.hset(this.#keys.forGenerationJob(id).job, field, value)
  }

  async getField(id: string, field: 'paused'): Promise<string | undefined> {
    return (await this.#redis.hget(this.#keys.forGenerationJob(id).job, field)) || undefined
  }

  /** False if it had ended before. */
  async end(
    id: string,
    {
      status,
      result,
      detail = '',
      news,
    }: { status: StoredGenerationJobStatus; result: unknown; detail?: string; news: unknown },
  ): Promise<boolean> {
    const keys = this.#keys.forGenerationJob(id)
    const args = [status, JSON.stringify(result), detail, Date.now(), JSON.stringify(news)]
    const ended = await endGenerationJob(this.#redis, keys, [...args, RESULT_RETENTION_MS, SAMPLE_RETENTION_MS])
    await this.markInactive(id)
    return ended === 1
  }

  /** False unless it had ended and its samples are kept. Throws `too_many_active` if too many are active. */
  async reopen(id: string, samples: number[], secret: string | undefined): Promise<boolean> {
    await this.#assertBelowActiveLimit()
    const keys = this.#keys.forGenerationJob(id)
    // First, as in create: what runs and is not listed would never be looked after. If it stays ended, the sweeper takes it off.
    await this.#markActive(id)
    const outlives = RESULT_RETENTION_MS - SAMPLE_RETENTION_MS
    const args = [secret ?? '', MAX_ACTIVE_MS, Date.now(), outlives, ...samples]
    if ((await reopenGenerationJob(this.#redis, keys, args)) !== 1) return false
    await this.#markActive(id) // who ended it may have taken it off meanwhile
    return true
  }

  /** Events after `last` (an id of one, or ''), oldest first. */
  async listEvents(id: string, last: string): Promise<GenerationJobEvent[]> {
    const from = /^\d+-\d+$/.test(last) ? `(${last}` : '-'
    const found = await this.#redis.xrange(this.#keys.forGenerationJob(id).events, from, '+', 'COUNT', PAGE_SIZE)
    return found.map(([at, [, event = '', , data = '']]) => ({ id: at, event, data }))
  }

  async #assertBelowActiveLimit(): Promise<void> {
    if ((await this.#redis.zcard(this.#keys.activeGenerationJobs)) < MAX_ACTIVE_JOBS) return
    throw new ServiceError('too_many_active', 'Too many evals and collections are active; retry when one has ended')
  }

  async #markActive(id: string): Promise<void> {
    await this.#redis.zadd(this.#keys.activeGenerationJobs, String(Date.now()), id)
  }

  async #deleteOldest(kind: GenerationJobKind): Promise<void> {
    const index = this.#keys.generationJobs(kind)
    for (const id of await this.#redis.zrange(index, '0', String(-this.#maxRetained - 1))) {
      const keys = this.#keys.forGenerationJob(id)
      if ((await deleteGenerationJob(this.#redis, keys, [])) !== 1) continue
      await this.#redis.zrem(this.#keys.activeGenerationJobs, id) // of another slot than the index, which goes last
      await this.#redis.zrem(index, id)
    }
  }
}

export interface NewGenerationJob {
  id: string
  spec: unknown
  /** Samples wanted. */
  total: number
  /** Ids of the items, in order; empty where they are taken as they are needed. */
  items: string[]
  /** Key of the model. */
  modelApiKey: string | undefined
}
