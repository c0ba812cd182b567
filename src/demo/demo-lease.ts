/** Allows one demo at a time on all processes that share a Redis, and gives each its own number. */
import type { Redis } from 'ioredis'
import type { RedisKeys } from '../platform/redis/keys.ts'

/** A killed process blocks the next demo for this long. */
const LEASE_MS = 15_000
const RENEW_MS = 5000

interface DemoLease {
  /** Call this if the run gets another name. */
  rename(run: string): void
  release(): Promise<void>
}

export class DemoLeases {
  readonly #redis: Redis
  readonly #leaseKey: string
  readonly #numberKey: string

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#leaseKey = keys.key('demo:running')
    this.#numberKey = keys.key('demo:number')
  }

  takeNumber(): Promise<number> {
    return this.#redis.incr(this.#numberKey)
  }

  /** For the next demo. The demo that took the number must hold the lease. */
  returnNumber(): Promise<number> {
    return this.#redis.decr(this.#numberKey)
  }

  /** The run of the demo that holds the lease. */
  getRunning(): Promise<string | null> {
    return this.#redis.get(this.#leaseKey)
  }

  /** Undefined if another demo runs. The lease is renewed until it is released. */
  async tryAcquire(run: string): Promise<DemoLease | undefined> {
    if ((await this.#redis.set(this.#leaseKey, run, 'PX', LEASE_MS, 'NX')) === null) return undefined
    let name = run
    const renew = () => {
      this.#redis.set(this.#leaseKey, name, 'PX', LEASE_MS, 'XX').catch(() => {}) // the next renewal may succeed
    }
    const renewal = setInterval(renew, RENEW_MS)
    renewal.unref()
    return {
      rename(other) {
        name = other
        renew()
      },
      release: async () => {
        clearInterval(renewal)
        await this.#redis.del(this.#leaseKey).catch(() => {}) // it expires
      },
    }
  }
}
