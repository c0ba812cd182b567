/** Which item a question belongs to, for admins who have the text alone. Kept for items made lately: bounded, expiring. */
import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Keys } from './keys.ts'
import { loadScript } from './script.ts'

const BUCKETS = 64
const PER_BUCKET = 1000
const KEPT_MS = 2 * 60 * 60 * 1000
/** Endings of a text that are looked up; a system prompt has few blank lines. */
const ENDINGS_MAX = 256

const keepEntry = loadScript('keep-entry-2')

export class Questions {
  readonly #redis: Redis
  readonly #keys: Keys

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis
    this.#keys = keys
  }

  async keep(question: string, itemId: string): Promise<void> {
    const { bucket, hash } = placeOf(question)
    const keys = [this.#keys.questionBucket(bucket), this.#keys.question(bucket, hash)]
    const prefix = this.#keys.question(bucket, '')
    await keepEntry(this.#redis, keys, [hash, itemId, Date.now(), KEPT_MS, PER_BUCKET, prefix])
  }

  /** The item whose question is the text, or stands in it after a blank line: a prompt may come before it. */
  async itemOf(text: string): Promise<string | undefined> {
    const found = await Promise.all(endingsOf(text).map((ending) => this.#redis.get(this.#keyOf(ending))))
    return found.find((id) => id !== null) ?? undefined
  }

  #keyOf(question: string): string {
    const { bucket, hash } = placeOf(question)
    return this.#keys.question(bucket, hash)
  }
}

/** The whole first, then what follows each blank line. */
function endingsOf(text: string): string[] {
  const endings = [text]
  for (let at = text.indexOf('\n\n'); at !== -1 && endings.length < ENDINGS_MAX; at = text.indexOf('\n\n', at + 1)) {
    endings.push(text.slice(at + 2))
  }
  return endings
}

function placeOf(question: string): { bucket: number; hash: string } {
  const digest = createHash('sha256').update(question).digest()
  return { bucket: digest.readUInt32BE(0) % BUCKETS, hash: digest.toString('base64url') }
}
