/** How many evals and collections of one caller may be at work at once. */
import type { Redis } from 'ioredis'
import { ServiceError } from '../../contract/errors.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { type AllGenerationJobKeys, createGenerationJobKeys } from './keys.ts'

/** Between taking a seat and being at work nothing else says that it is taken. */
const START_GRACE_MS = 60_000
const QUOTA_TTL_S = 8 * 86_400

export class ConcurrencyQuota {
  readonly #redis: Redis
  readonly #keys: AllGenerationJobKeys
  readonly #limit: number

  constructor(redis: Redis, keys: RedisKeys, most: number) {
    this.#redis = redis
    this.#keys = createGenerationJobKeys(keys)
    this.#limit = most
  }

  /** Begins with a seat taken, which is free again once `id` is no longer at work. Throws `too_many_active`. */
  async runWithinQuota<T>(caller: string, id: string, begin: () => Promise<T>): Promise<T> {
    const key = this.#keys.callerGenerationJobs(caller)
    // In the order of the scores, which are the times: whoever came later stands up again.
    const [taken] = (await this.#redis.multi().zadd(key, 'NX', Date.now(), id).expire(key, QUOTA_TTL_S).exec()) ?? []
    try {
      if ((await this.#listActive(key, id)).indexOf(id) >= this.#limit) {
        throw new ServiceError(
          'too_many_active',
          `${this.#limit} evals and collections of this key are active; retry when one has ended`,
        )
      }
      return await begin()
    } catch (error) {
      if (taken?.[1] === 1) await this.#redis.zrem(key, id) // who sat there before is still at work
      throw error
    }
  }

  async #listActive(key: string, own: string): Promise<string[]> {
    const pairs = await this.#redis.zrange(key, '0', '-1', 'WITHSCORES')
    const ids = pairs.filter((_, k) => k % 2 === 0)
    const active = ids.length > 0 ? await this.#redis.zmscore(this.#keys.activeGenerationJobs, ...ids) : []
    const sitting: string[] = []
    for (const [k, id] of ids.entries()) {
      if (active[k] != null || id === own || (await this.#isStarting(id, Number(pairs[2 * k + 1])))) sitting.push(id)
      else await this.#redis.zrem(key, id)
    }
    return sitting
  }

  async #isStarting(id: string, since: number): Promise<boolean> {
    return Date.now() - since < START_GRACE_MS && (await this.#redis.exists(this.#keys.forGenerationJob(id).job)) === 0
  }
}
