/** Whether the server has room for more groups: the payloads of all runs together against BUFFER_MAX_BYTES. */
import type { Redis } from 'ioredis'
import pMap from 'p-map'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { SharedUsage } from '../../platform/shared-usage.ts'
import { type AllRunKeys, backlogRecord, createRunKeys, runRecord } from '../runs/records.ts'
import { CONCURRENT_RUN_READS } from '../runs/run-index.ts'

const USAGE_CACHE_TTL_MS = 1000

/** Tracks whether the server can take more groups. Each run counts its payload bytes exactly, in its own slot. */
export class ServerBuffer {
  readonly #redis: Redis
  readonly #keys: AllRunKeys
  readonly #usage: SharedUsage
  readonly maxBytes: number

  constructor(redis: Redis, keys: RedisKeys, maxBytes: number, freshMs = USAGE_CACHE_TTL_MS) {
    this.#redis = redis
    this.#keys = createRunKeys(keys)
    this.#usage = new SharedUsage(() => this.#sumRunBytes(), freshMs)
    this.maxBytes = maxBytes
  }

  /** Reads the payload size of all groups that are queued, buffered or in open batches. */
  readUsedBytes(): Promise<number> {
    return this.#usage.read()
  }

  async isFull(): Promise<boolean> {
    return (await this.readUsedBytes()) >= this.maxBytes
  }

  addStoredBytes(bytes: number): void {
    this.#usage.add(bytes)
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
