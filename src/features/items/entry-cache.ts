/**
 * What Redis keeps of made items: their entries by ID, so that scoring and dumps do not repeat work that took seconds, and
 * their IDs by question, for admins who have only the text. Bounded and expiring.
 */
import type { DatasetEntry } from '@reasoning-gym-server/scorers/scorer'
import type { Redis } from 'ioredis'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import { hashQuestion } from './eval-questions.ts'

const BUCKET_COUNT = 64
const MAX_ENTRIES_PER_BUCKET = 1000
/**
 * Limit per bucket, 256 MiB in all. Very large items, such as lists of 100,000 numbers, are not cached but made again.
 */
const MAX_BYTES_PER_BUCKET = 4 * 1024 * 1024
const MAX_QUESTION_BYTES_PER_BUCKET = 1024 * 1024
const ENTRY_TTL_MS = 2 * 60 * 60 * 1000
/** Limit of the suffixes of a text to look up. A system prompt has few blank lines. */
const MAX_SUFFIXES = 256

const storeEntry = defineScript(import.meta.dirname, 'store-bucketed-entry')

/** Texts in buckets, which spread over the slots of a cluster. */
class BucketedCache {
  readonly #redis: Redis
  readonly #getBucketKey: (bucket: number) => string
  readonly #maxBytes: number

  constructor(redis: Redis, getBucketKey: (bucket: number) => string, maxBytes: number) {
    this.#redis = redis
    this.#getBucketKey = getBucketKey
    this.#maxBytes = maxBytes
  }

  async store(bucket: number, name: string, text: string): Promise<void> {
    const key = this.#getBucketKey(bucket)
    const limits = {
      now: redisNow(),
      ttl_ms: ENTRY_TTL_MS,
      max_entries: MAX_ENTRIES_PER_BUCKET,
      max_bytes: this.#maxBytes,
      prefix: `${key}:`,
    }
    const keys = { bucket: key, bytes: `${key}:bytes`, entry: `${key}:${name}` }
    await storeEntry(this.#redis, keys, [name, text, JSON.stringify(limits)])
  }

  get(bucket: number, name: string): Promise<string | null> {
    return this.#redis.get(`${this.#getBucketKey(bucket)}:${name}`)
  }
}

/** The cached part of an item. The entry never leaves the server. */
interface CachedItem {
  question: string
  entry: DatasetEntry
}

export class ItemEntryCache {
  readonly #cache: BucketedCache

  constructor(redis: Redis, keys: RedisKeys, maxBytesPerBucket = MAX_BYTES_PER_BUCKET) {
    this.#cache = new BucketedCache(redis, (bucket) => keys.slot(`item-entries:${bucket}`), maxBytesPerBucket)
  }

  async store(itemId: string, { entry }: CachedItem): Promise<void> {
    await this.#cache.store(bucketIndexOf(itemId), itemId, JSON.stringify(entry))
  }

  async get(itemId: string): Promise<CachedItem | undefined> {
    const text = await this.#cache.get(bucketIndexOf(itemId), itemId)
    if (text === null) return undefined
    const entry = JSON.parse(text) as DatasetEntry // written by store
    return { question: entry.question, entry }
  }
}

/** Hashes with FNV-1a, which spreads IDs over the slots of a cluster. */
function bucketIndexOf(itemId: string): number {
  let hash = 0x811c9dc5
  for (let k = 0; k < itemId.length; k++) hash = Math.imul(hash ^ itemId.charCodeAt(k), 0x01000193)
  return (hash >>> 0) % BUCKET_COUNT
}

export class QuestionIndex {
  readonly #cache: BucketedCache

  constructor(redis: Redis, keys: RedisKeys) {
    this.#cache = new BucketedCache(redis, (bucket) => keys.slot(`questions:${bucket}`), MAX_QUESTION_BYTES_PER_BUCKET)
  }

  async store(question: string, itemId: string): Promise<void> {
    const { bucket, hash } = findPlace(question)
    await this.#cache.store(bucket, hash, itemId)
  }

  /**
   * Returns the item whose question is the whole text, or follows a blank line in it, because a prompt may come first.
   */
  async getItemId(text: string): Promise<string | undefined> {
    const places = listParagraphSuffixes(text).map(findPlace)
    const found = await Promise.all(places.map(({ bucket, hash }) => this.#cache.get(bucket, hash)))
    return found.find((id) => id !== null) ?? undefined
  }
}

/** Lists the whole text first, then the part after each blank line. */
function listParagraphSuffixes(text: string): string[] {
  const endings = [text]
  for (let at = text.indexOf('\n\n'); at !== -1 && endings.length < MAX_SUFFIXES; at = text.indexOf('\n\n', at + 1)) {
    endings.push(text.slice(at + 2))
  }
  return endings
}

function findPlace(question: string): { bucket: number; hash: string } {
  const hash = hashQuestion(question)
  return { bucket: Number.parseInt(hash.slice(0, 8), 16) % BUCKET_COUNT, hash }
}
