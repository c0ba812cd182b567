/** Finds recently made items by their question, for admins who have only the text. Bounded and expiring. */
import type { Redis } from 'ioredis'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import { hashQuestion } from './question-hash.ts'

const BUCKET_COUNT = 64
const MAX_QUESTIONS_PER_BUCKET = 1000
const MAX_BYTES_PER_BUCKET = 1024 * 1024
const QUESTION_TTL_MS = 2 * 60 * 60 * 1000
/** Limit of the suffixes of a text to look up. A system prompt has few blank lines. */
const MAX_SUFFIXES = 256

const storeEntry = defineScript({
  folder: import.meta.dirname,
  name: 'store-bucketed-entry',
  keys: ['bucket', 'bytes', 'entry'],
})

export class QuestionIndex {
  readonly #redis: Redis
  readonly #keys: RedisKeys

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = keys
  }

  async store(question: string, itemId: string): Promise<void> {
    const { bucket, hash } = findPlace(question)
    const keys = {
      bucket: this.#bucketKey(bucket),
      bytes: this.#entryKey(bucket, 'bytes'),
      entry: this.#entryKey(bucket, hash),
    }
    const limits = {
      now: redisNow(),
      ttl_ms: QUESTION_TTL_MS,
      max_entries: MAX_QUESTIONS_PER_BUCKET,
      max_bytes: MAX_BYTES_PER_BUCKET,
      prefix: this.#entryKey(bucket, ''),
    }
    await storeEntry(this.#redis, keys, [hash, itemId, JSON.stringify(limits)])
  }

  /**
   * Returns the item whose question is the whole text, or follows a blank line in it, because a prompt may come first.
   */
  async getItemId(text: string): Promise<string | undefined> {
    const found = await Promise.all(listParagraphSuffixes(text).map((ending) => this.#redis.get(this.#key(ending))))
    return found.find((id) => id !== null) ?? undefined
  }

  #key(question: string): string {
    const { bucket, hash } = findPlace(question)
    return this.#entryKey(bucket, hash)
  }

  #bucketKey(bucket: number): string {
    return this.#keys.slot(`questions:${bucket}`)
  }

  #entryKey(bucket: number, hash: string): string {
    return `${this.#bucketKey(bucket)}:${hash}`
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

/** Returns the hash of a question and the bucket that it belongs to. */
function findPlace(question: string): { bucket: number; hash: string } {
  const hash = hashQuestion(question)
  return { bucket: Number.parseInt(hash.slice(0, 8), 16) % BUCKET_COUNT, hash }
}
