/** Checks whether Redis accepts writes. A Redis that is full, read-only or without disk answers PING but rejects writes. */
import type { Redis } from 'ioredis'
import { MasterKeys } from './cluster.ts'
import type { RedisKeys } from './keys.ts'

/** Each process writes at most once per second, however many callers check. */
const MAX_AGE_MS = 1000
const KEY_EXPIRY_MS = 10_000

/**
 * Writes a key that expires, as a request would write its group. Only a write detects every reason for a rejection, including
 * those of later Redis versions; a check of memory and roles would have to repeat the logic of Redis.
 */
export class WriteProbe {
  readonly #redis: Redis
  readonly #masterKeys: MasterKeys
  #last: { at: number; result: Promise<void> } | undefined

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#masterKeys = new MasterKeys(keys.key('write-probe'))
  }

  /** Rejects with the reason if a master rejects writes. The result is at most a second old. */
  check(): Promise<void> {
    const now = performance.now()
    if (!this.#last || now - this.#last.at > MAX_AGE_MS) this.#last = { at: now, result: this.#write() }
    return this.#last.result
  }

  async #write(): Promise<void> {
    const masterKeys = await this.#masterKeys.find(this.#redis)
    const writes = masterKeys.map(({ key }) => this.#redis.set(key, '', 'PX', KEY_EXPIRY_MS))
    await Promise.all(writes).catch((error: Error) => {
      throw new Error(`Redis takes no writes: ${error.message}`, { cause: error })
    })
  }
}
