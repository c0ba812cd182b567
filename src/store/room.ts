/**
 * Whether the server has room for more groups. Each run counts the bytes of its payload in its own slot, exactly; the sum
 * over runs is asked for once a second at most, and what this process has added since is counted on top.
 */
import type { Redis } from 'ioredis'
import type { Keys } from './keys.ts'

const FRESH_MS = 1000

export class Room {
  readonly #redis: Redis
  readonly #keys: Keys
  readonly #mostBytes: number
  readonly #freshMs: number
  #known = { bytes: 0, at: Number.NEGATIVE_INFINITY }
  #added = 0
  #asking: Promise<void> | undefined

  constructor(redis: Redis, keys: Keys, mostBytes: number, freshMs = FRESH_MS) {
    this.#redis = redis
    this.#keys = keys
    this.#mostBytes = mostBytes
    this.#freshMs = freshMs
  }

  get mostBytes(): number {
    return this.#mostBytes
  }

  /** Of the payload of all groups that are queued, buffered or in open batches. */
  async bytes(): Promise<number> {
    if (performance.now() - this.#known.at > this.#freshMs) {
      this.#asking ??= this.#ask().finally(() => {
        this.#asking = undefined
      })
      await this.#asking
    }
    return this.#known.bytes + this.#added
  }

  async isFull(): Promise<boolean> {
    return (await this.bytes()) >= this.#mostBytes
  }

  /** This process has stored as much. */
  add(bytes: number): void {
    this.#added += bytes
  }

  /** By one call at a time: two would both take off what was added before. */
  async #ask(): Promise<void> {
    const added = this.#added
    const bytes = await this.#sum()
    this.#known = { bytes, at: performance.now() }
    this.#added -= added // what came while we asked may be in the sum or not: it counts until the next time
  }

  async #sum(): Promise<number> {
    const names = await this.#redis.smembers(this.#keys.runs)
    const bytes = await Promise.all(
      names.map(async (name) => {
        const epoch = await this.#redis.hget(this.#keys.run(name), 'epoch')
        return epoch === null ? 0 : Number(await this.#redis.hget(this.#keys.ofRun(name, Number(epoch)).stock, 'bytes'))
      }),
    )
    return bytes.reduce((sum, of) => sum + of, 0)
  }
}
