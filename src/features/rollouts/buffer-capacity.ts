/** Whether the server has room for more groups: the payloads of all runs together against BUFFER_MAX_BYTES. */
import type { Redis } from 'ioredis'
import pMap from 'p-map'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { type AllRunKeys, backlogRecord, createRunKeys, runRecord } from '../runs/records.ts'
import { CONCURRENT_RUN_READS } from '../runs/run-index.ts'

const USAGE_CACHE_TTL_MS = 1000

/**
 * Tracks whether the server can take more groups. Each run counts its payload bytes exactly, in its own slot. The sum
 * over all runs is read at most once a second, and what this process has added since is counted on top.
 */
export class BufferCapacity {
  readonly #redis: Redis
  readonly #keys: AllRunKeys
  readonly #maxBytes: number
  readonly #cacheTtlMs: number
  #cached = { bytes: 0, at: Number.NEGATIVE_INFINITY }
  #addedSinceRefresh = 0
  #refreshing: Promise<void> | undefined

  constructor(redis: Redis, keys: RedisKeys, mostBytes: number, freshMs = USAGE_CACHE_TTL_MS) {
    this.#redis = redis
    this.#keys = createRunKeys(keys)
    this.#maxBytes = mostBytes
    this.#cacheTtlMs = freshMs
  }

  get maxBytes(): number {
    return this.#maxBytes
  }

  /** Reads the payload size of all groups that are queued, buffered or in open batches. */
  async readUsedBytes(): Promise<number> {
    if (performance.now() - this.#cached.at > this.#cacheTtlMs) {
      this.#refreshing ??= this.#refresh().finally(() => {
        this.#refreshing = undefined
      })
      await this.#refreshing
    }
    return this.#cached.bytes + this.#addedSinceRefresh
  }

  async isFull(): Promise<boolean> {
    return (await this.readUsedBytes()) >= this.#maxBytes
  }

  addStoredBytes(bytes: number): void {
    this.#addedSinceRefresh += bytes
  }

  /** Runs one refresh at a time, because two would both subtract what was added before. */
  async #refresh(): Promise<void> {
    const added = this.#addedSinceRefresh
    const bytes = await this.#sumRunBytes()
    this.#cached = { bytes, at: performance.now() }
    // bytes added during the request may be in the sum or not, so they count until the next refresh
    this.#addedSinceRefresh -= added
  }

  async #sumRunBytes(): Promise<number> {
    const names = await this.#redis.smembers(this.#keys.runs)
    const bytes = await pMap(names, (name) => this.#readRunBytes(name), { concurrency: CONCURRENT_RUN_READS })
    return bytes.reduce((sum, of) => sum + of, 0)
  }

  async #readRunBytes(name: string): Promise<number> {
    const epoch = await this.#redis.hget(this.#keys.run(name), runRecord.constants.epoch)
    if (epoch === null) return 0
    const { backlog } = this.#keys.forRun(name, Number(epoch))
    return Number(await this.#redis.hget(backlog, backlogRecord.constants.bytes))
  }
}
