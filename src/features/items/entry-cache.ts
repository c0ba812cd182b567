/**
 * Caches items in Redis by ID, so that scoring and dumps do not repeat work that took seconds. Bounded and expiring.
 */

import type { DatasetEntry } from '@reasoning-gym-server/scorers/scorer'
import type { Redis } from 'ioredis'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { defineScript } from '../../platform/redis/scripts.ts'

const BUCKET_COUNT = 64
const MAX_ENTRIES_PER_BUCKET = 1000
/**
 * Limit per bucket, 256 MiB in all. Very large items, such as lists of 100,000 numbers, are not cached but made again.
 */
export const MAX_BYTES_PER_BUCKET = 4 * 1024 * 1024
const ENTRY_TTL_MS = 2 * 60 * 60 * 1000

const storeEntry = defineScript({
  folder: import.meta.dirname,
  name: 'store-bucketed-entry',
  keys: ['bucket', 'bytes', 'entry'],
})

/** The cached part of an item. The entry never leaves the server. */
interface CachedItem {
  question: string
  entry: DatasetEntry
}

export class ItemEntryCache {
  readonly #redis: Redis
  readonly #keys: RedisKeys

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = keys
  }

  async store(itemId: string, { question, entry }: CachedItem): Promise<void> {
    const bucket = bucketIndexOf(itemId)
    const keys = {
      bucket: this.#bucketKey(bucket),
      bytes: this.#entryKey(bucket, 'bytes'),
      entry: this.#entryKey(bucket, itemId),
    }
    const limits = {
      now: redisNow(),
      ttl_ms: ENTRY_TTL_MS,
      max_entries: MAX_ENTRIES_PER_BUCKET,
      max_bytes: MAX_BYTES_PER_BUCKET,
      prefix: this.#entryKey(bucket, ''),
    }
    await storeEntry(this.#redis, keys, [itemId, JSON.stringify({ ...entry, question }), JSON.stringify(limits)])
  }

  async get(itemId: string): Promise<CachedItem | undefined> {
    const text = await this.#redis.get(this.#entryKey(bucketIndexOf(itemId), itemId))
    if (text === null) return undefined
    const { question, ...entry } = JSON.parse(text) as DatasetEntry & { question?: string } // written by store
    return question === undefined ? undefined : { question, entry }
  }

  #bucketKey(bucket: number): string {
    return this.#keys.slot(`item-entries:${bucket}`)
  }

  #entryKey(bucket: number, itemId: string): string {
    return `${this.#bucketKey(bucket)}:${itemId}`
  }
}

/** Hashes with FNV-1a, which spreads IDs over the slots of a cluster. */
function bucketIndexOf(itemId: string): number {
  let hash = 0x811c9dc5
  for (let k = 0; k < itemId.length; k++) hash = Math.imul(hash ^ itemId.charCodeAt(k), 0x01000193)
  return (hash >>> 0) % BUCKET_COUNT
}
