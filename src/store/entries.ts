/** Made items, kept by id: what took seconds to make is not made again to be scored or dumped. Bounded and expiring. */
import type { Redis } from 'ioredis'
import type { Entry } from '../scorers/scorer.ts'
import type { Keys } from './keys.ts'
import { loadScript } from './script.ts'

const BUCKETS = 64
const PER_BUCKET = 1000
const KEPT_MS = 2 * 60 * 60 * 1000

const keepEntry = loadScript('keep-entry-2')

/** What an item was made of; the entry never leaves the server. */
export interface KeptItem {
  question: string
  entry: Entry
}

export class Entries {
  readonly #redis: Redis
  readonly #keys: Keys

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis
    this.#keys = keys
  }

  async keep(itemId: string, { question, entry }: KeptItem): Promise<void> {
    const bucket = bucketOf(itemId)
    const keys = [this.#keys.entryBucket(bucket), this.#keys.entry(bucket, itemId)]
    const prefix = this.#keys.entry(bucket, '')
    await keepEntry(this.#redis, keys, [
      itemId,
      JSON.stringify({ ...entry, question }),
      Date.now(),
      KEPT_MS,
      PER_BUCKET,
      prefix,
    ])
  }

  async find(itemId: string): Promise<KeptItem | undefined> {
    const text = await this.#redis.get(this.#keys.entry(bucketOf(itemId), itemId))
    if (text === null) return undefined
    const { question, ...entry } = JSON.parse(text) as Entry & { question?: string } // written by keep
    return question === undefined ? undefined : { question, entry }
  }
}

/** FNV-1a: spreads ids over the slots of a cluster. */
function bucketOf(itemId: string): number {
  let hash = 0x811c9dc5
  for (let k = 0; k < itemId.length; k++) hash = Math.imul(hash ^ itemId.charCodeAt(k), 0x01000193)
  return (hash >>> 0) % BUCKETS
}
