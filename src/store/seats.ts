/** How many evals and collections of one caller may be at work at once. */
import type { Redis } from 'ioredis'
import { Fault } from '../faults.ts'
import type { Keys } from './keys.ts'

/** Between taking a seat and being at work nothing else says that it is taken. */
const BEGINNING_MS = 60_000
const KEPT_S = 8 * 86_400
const AGAIN_S = 30

export class Seats {
  readonly #redis: Redis
  readonly #keys: Keys
  readonly #most: number

  constructor(redis: Redis, keys: Keys, most: number) {
    this.#redis = redis
    this.#keys = keys
    this.#most = most
  }

  /** Begins with a seat taken, which is free again once `id` is no longer at work. Throws `rate_limited`. */
  async seated<T>(caller: string, id: string, begin: () => Promise<T>): Promise<T> {
    const key = this.#keys.seats(caller)
    // In the order of the scores, which are the times: whoever came later stands up again.
    const [taken] = (await this.#redis.multi().zadd(key, 'NX', Date.now(), id).expire(key, KEPT_S).exec()) ?? []
    try {
      if ((await this.#sitting(key, id)).indexOf(id) >= this.#most) {
        const many = `${this.#most} evals and collections of this key are at work; wait for one to end`
        throw new Fault('rate_limited', many, { retryAfter: AGAIN_S })
      }
      return await begin()
    } catch (error) {
      if (taken?.[1] === 1) await this.#redis.zrem(key, id) // who sat there before is still at work
      throw error
    }
  }

  async #sitting(key: string, own: string): Promise<string[]> {
    const pairs = await this.#redis.zrange(key, '0', '-1', 'WITHSCORES')
    const ids = pairs.filter((_, k) => k % 2 === 0)
    const active = ids.length > 0 ? await this.#redis.zmscore(this.#keys.activeSamplings, ...ids) : []
    const sitting: string[] = []
    for (const [k, id] of ids.entries()) {
      if (active[k] != null || id === own || (await this.#isBeginning(id, Number(pairs[2 * k + 1])))) sitting.push(id)
      else await this.#redis.zrem(key, id)
    }
    return sitting
  }

  async #isBeginning(id: string, since: number): Promise<boolean> {
    return Date.now() - since < BEGINNING_MS && (await this.#redis.exists(this.#keys.ofSampling(id).sampling)) === 0
  }
}
