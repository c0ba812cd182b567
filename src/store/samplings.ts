/**
 * Samplings in Redis: an eval or a collection is so many samples wanted of a model; samples.ts has those.
 *   queued → running → done | failed | cancelled,   cancelled | failed | done → running when it is resumed
 */
import type { Redis } from 'ioredis'
import { Fault } from '../faults.ts'
import type { Keys, SamplingKeys } from './keys.ts'
import { loadScript } from './script.ts'

const endSampling = loadScript('end-sampling-8')
const reopenSampling = loadScript('reopen-sampling-8')
const forgetSampling = loadScript('forget-sampling-9')

const DAY_MS = 24 * 60 * 60 * 1000
/** A sampling that does not come to an end is ended by the sweeper after this time; its key lives no longer. */
export const ACTIVE_MOST_MS = 7 * DAY_MS
/** After its end; the result is kept for longer. */
export const SAMPLES_KEPT_MS = 7 * DAY_MS
const RESULT_KEPT_MS = 90 * DAY_MS
/** Samplings of each kind that are remembered; those at work are kept beyond it. */
const KEPT = 2000
const ACTIVE_MOST = 200
const FULL_AGAIN_S = 60
const PAGE = 500

export type SamplingStatus = 'queued' | 'running' | 'done' | 'failed' | 'cancelled'
export type SamplingKind = 'eval' | 'collection'

export interface StoredSampling {
  id: string
  status: SamplingStatus
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
  opened: number
  result: unknown
  detail: string | null
}

export interface SamplingEvent {
  id: string
  event: string
  data: string
}

export class Samplings {
  readonly #redis: Redis
  readonly #keys: Keys
  readonly #kept: number

  constructor(redis: Redis, keys: Keys, kept = KEPT) {
    this.#redis = redis
    this.#keys = keys
    this.#kept = kept
  }

  /** Made once: a second call with the same id changes nothing. Throws `rate_limited` if too many are active. */
  async create(kind: SamplingKind, { id, spec, total, items, secret }: NewSampling): Promise<void> {
    const keys = this.#keys.ofSampling(id)
    if (await this.#redis.exists(keys.sampling)) return
    await this.#assertRoom()
    const now = Date.now()
    // The hash comes last: it is what says that the sampling is there.
    await this.#redis.zadd(this.#keys.samplings(kind), String(now), id)
    await this.#redis.zadd(this.#keys.activeSamplings, String(now), id)
    if (secret !== undefined) await this.#redis.set(keys.secret, secret, 'PX', ACTIVE_MOST_MS)
    const making = this.#redis.multi().del(keys.items)
    for (let k = 0; k < items.length; k += PAGE) making.rpush(keys.items, ...items.slice(k, k + PAGE))
    await making.hset(keys.sampling, { spec: JSON.stringify(spec), status: 'queued', total, created: now }).exec()
    await this.#forgetOldest(kind)
  }

  async find(id: string): Promise<StoredSampling | undefined> {
    const fields = await this.#redis.hgetall(this.#keys.ofSampling(id).sampling)
    if (fields.status === undefined) return undefined
    const number = (name: string) => Number(fields[name] ?? 0)
    return {
      id,
      status: fields.status as SamplingStatus, // written by create and the scripts
      spec: JSON.parse(fields.spec ?? 'null') as unknown,
      total: number('total'),
      done: number('done'),
      failed: number('failed'),
      score: number('score'),
      created: number('created'),
      started: fields.started === undefined ? null : Number(fields.started),
      ended: fields.ended === undefined ? null : Number(fields.ended),
      opened: number(fields.resumed === undefined ? 'created' : 'resumed'),
      result: fields.result ? (JSON.parse(fields.result) as unknown) : null,
      detail: fields.detail || null,
    }
  }

  async status(id: string): Promise<SamplingStatus | undefined> {
    const status = await this.#redis.hget(this.#keys.ofSampling(id).sampling, 'status')
    return (status ?? undefined) as SamplingStatus | undefined // as in find
  }

  /** Newest first. */
  ids(kind: SamplingKind): Promise<string[]> {
    return this.#redis.zrevrange(this.#keys.samplings(kind), 0, -1)
  }

  async active(): Promise<{ id: string; since: number }[]> {
    const found = await this.#redis.zrange(this.#keys.activeSamplings, '0', '-1', 'WITHSCORES')
    return Array.from({ length: found.length / 2 }, (_, k) => ({
      id: found[2 * k] ?? '',
      since: Number(found[2 * k + 1]),
    }))
  }

  /** Takes what has ended off the list of those at work. */
  async deactivate(id: string): Promise<void> {
    await this.#redis.zrem(this.#keys.activeSamplings, id)
    const status = await this.status(id)
    if (status === 'queued' || status === 'running') await this.#activate(id) // resumed at the same time
  }

  async secret(id: string): Promise<string | undefined> {
    return (await this.#redis.get(this.#keys.ofSampling(id).secret)) ?? undefined
  }

  async setField(id: string, field: 'paused', value: string): Promise<void> {
    await this.#redis.hset(this.#keys.ofSampling(id).sampling, field, value)
  }

  async field(id: string, field: 'paused'): Promise<string | undefined> {
    return (await this.#redis.hget(this.#keys.ofSampling(id).sampling, field)) || undefined
  }

  /** False if it had ended before. */
  async end(
    id: string,
    { status, result, detail = '', news }: { status: SamplingStatus; result: unknown; detail?: string; news: unknown },
  ): Promise<boolean> {
    const keys = this.#keys.ofSampling(id)
    const args = [status, JSON.stringify(result), detail, Date.now(), JSON.stringify(news)]
    const ended = await endSampling(this.#redis, lasting(keys), [...args, RESULT_KEPT_MS, SAMPLES_KEPT_MS])
    await this.deactivate(id)
    return ended === 1
  }

  /** False unless it had ended and its samples are kept. Throws `rate_limited` if too many are active. */
  async reopen(id: string, samples: number[], secret: string | undefined): Promise<boolean> {
    await this.#assertRoom()
    const keys = this.#keys.ofSampling(id)
    // First, as in create: what runs and is not listed would never be looked after. If it stays ended, the sweeper takes it off.
    await this.#activate(id)
    const outlives = RESULT_KEPT_MS - SAMPLES_KEPT_MS
    const args = [secret ?? '', ACTIVE_MOST_MS, Date.now(), outlives, ...samples]
    if ((await reopenSampling(this.#redis, lasting(keys), args)) !== 1) return false
    await this.#activate(id) // who ended it may have taken it off meanwhile
    return true
  }

  /** Events after `last` (an id of one, or ''), oldest first. */
  async events(id: string, last: string): Promise<SamplingEvent[]> {
    const from = /^\d+-\d+$/.test(last) ? `(${last}` : '-'
    const found = await this.#redis.xrange(this.#keys.ofSampling(id).events, from, '+', 'COUNT', PAGE)
    return found.map(([at, [, event = '', , data = '']]) => ({ id: at, event, data }))
  }

  async #assertRoom(): Promise<void> {
    if ((await this.#redis.zcard(this.#keys.activeSamplings)) < ACTIVE_MOST) return
    throw new Fault('rate_limited', 'Too many evals and collections are at work; wait for one to end', {
      retryAfter: FULL_AGAIN_S,
    })
  }

  async #activate(id: string): Promise<void> {
    await this.#redis.zadd(this.#keys.activeSamplings, String(Date.now()), id)
  }

  async #forgetOldest(kind: SamplingKind): Promise<void> {
    const index = this.#keys.samplings(kind)
    for (const id of await this.#redis.zrange(index, '0', String(-this.#kept - 1))) {
      const keys = this.#keys.ofSampling(id)
      if ((await forgetSampling(this.#redis, [...lasting(keys), keys.taking], [])) !== 1) continue
      await this.#redis.zrem(this.#keys.activeSamplings, id) // of another slot than the index, which goes last
      await this.#redis.zrem(index, id)
    }
  }
}

/** What a sampling consists of, as its scripts take it; who may take items for it is a matter of seconds. */
function lasting({ sampling, secret, items, texts, verdicts, claims, again, events }: SamplingKeys): string[] {
  return [sampling, secret, items, texts, verdicts, claims, again, events]
}

export interface NewSampling {
  id: string
  spec: unknown
  /** Samples wanted. */
  total: number
  /** Ids of the items, in order; empty where they are taken as they are needed. */
  items: string[]
  /** Key of the model. */
  secret: string | undefined
}
