/** Limits how many active generation jobs one caller may have. */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Redis } from 'ioredis'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { splitList } from '../../platform/split-list.ts'
import { createGenerationJobKeys, type GenerationJobKeys } from './records.ts'

/** Time for which a reserved place counts before its job is stored. */
const START_GRACE_MS = 60_000
const QUOTA_TTL_S = 8 * 86_400

export class ActiveJobQuota {
  readonly #redis: Redis
  readonly #keys: GenerationJobKeys
  readonly #limit: number

  constructor(redis: Redis, keys: RedisKeys, limit: number) {
    this.#redis = redis
    this.#keys = createGenerationJobKeys(keys)
    this.#limit = limit
  }

  /** Reserves a place for job `id`, then runs `start`. The place is released when the job ends. Throws `too_many_active`. */
  async runWithinQuota<T>(callerId: string, id: string, start: () => Promise<T>): Promise<T> {
    const key = this.#keys.callerGenerationJobs(callerId)
    // Places are ordered by time: if two callers reserve the last place at once, the later one is rejected.
    const [added] = (await this.#redis.multi().zadd(key, 'NX', redisNow(), id).expire(key, QUOTA_TTL_S).exec()) ?? []
    try {
      if ((await this.#listOccupied(key, id)).indexOf(id) >= this.#limit) {
        const detail = `This API key has reached the limit of ${this.#limit} active evals and collections (MAX_ACTIVE_EVALS). Wait for one to end, or cancel one.`
        throw new ServiceError('too_many_active', detail)
      }
      const started = await start()
      await this.#redis.zadd(key, 'NX', redisNow(), id) // while a job is resumed, others take its place for that of an ended one
      return started
    } catch (error) {
      // a place that was reserved earlier belongs to an active job
      if (added?.[1] === 1) await this.#redis.zrem(key, id)
      throw error
    }
  }

  /** Lists the occupied places, oldest first, and releases those of jobs that have ended. */
  async #listOccupied(key: string, ownId: string): Promise<string[]> {
    const places = splitList(await this.#redis.zrange(key, '0', '-1', 'WITHSCORES'), 2)
    const ids = places.map(([id = '']) => id)
    const active = ids.length > 0 ? await this.#redis.zmscore(this.#keys.activeGenerationJobs, ...ids) : []
    const occupied: string[] = []
    for (const [k, id] of ids.entries()) {
      if (active[k] != null || id === ownId || (await this.#isStarting(id, Number(places[k]?.[1])))) occupied.push(id)
      else await this.#redis.zrem(key, id)
    }
    return occupied
  }

  async #isStarting(id: string, since: number): Promise<boolean> {
    return redisNow() - since < START_GRACE_MS && (await this.#redis.exists(this.#keys.forGenerationJob(id).job)) === 0
  }
}
