/** Checks whether Redis accepts writes. A Redis that is full, read-only or without disk answers PING but rejects writes. */
import { Cluster, type Redis } from 'ioredis'
import type { RedisKeys } from './keys.ts'

/** Each process writes at most once per second, however many callers check. */
const MAX_AGE_MS = 1000
const KEY_EXPIRY_MS = 10_000
/** More than enough to find a key for each of some hundred masters. */
const MAX_KEYS = 4096

/**
 * Writes a key that expires, as a request would write its group. Only a write detects every reason for a rejection, including
 * those of later Redis versions; a check of memory and roles would have to repeat the logic of Redis.
 */
export class WriteProbe {
  readonly #redis: Redis
  readonly #keys: RedisKeys
  /** Hash slots of the keys 0, 1, 2, … in a cluster, computed as needed. */
  readonly #slots: number[] = []
  #last: { at: number; result: Promise<void> } | undefined

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = keys
  }

  /** Rejects with the reason if a master rejects writes. The result is at most a second old. */
  check(): Promise<void> {
    const now = performance.now()
    if (!this.#last || now - this.#last.at > MAX_AGE_MS) this.#last = { at: now, result: this.#write() }
    return this.#last.result
  }

  async #write(): Promise<void> {
    const redis: unknown = this.#redis
    const numbers = redis instanceof Cluster ? await this.#findNumberPerMaster(redis) : [0]
    const writes = numbers.map((number) => this.#redis.set(this.#keyOf(number), '', 'PX', KEY_EXPIRY_MS))
    await Promise.all(writes).catch((error: Error) => {
      throw new Error(`Redis takes no writes: ${error.message}`, { cause: error })
    })
  }

  #keyOf(number: number): string {
    return this.#keys.key(`write-probe:${number}`)
  }

  /** A key for each master. */
  async #findNumberPerMaster(cluster: Cluster): Promise<number[]> {
    const missing = new Set(cluster.slots.flatMap(([master]) => master ?? []))
    const found: number[] = []
    for (let number = 0; missing.size > 0 && number < MAX_KEYS; number++) {
      const slot = this.#slots[number] ?? Number(await cluster.cluster('KEYSLOT', this.#keyOf(number)))
      this.#slots[number] = slot
      if (missing.delete(cluster.slots[slot]?.[0] ?? '')) found.push(number)
    }
    return found
  }
}
