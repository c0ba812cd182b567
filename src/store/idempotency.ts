/**
 * `Idempotency-Key`: the same key and body within an hour give the same answer, and nothing is done twice. The first call
 * is given a token that stays with the key: what is done under it is named by it, so that a second try after a crash
 * finds what the first one did.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { contentHash } from '../content-hash.ts'
import { Fault } from '../faults.ts'
import type { Keys } from './keys.ts'
import { loadScript } from './script.ts'

const beginOnce = loadScript('begin-once-1')

const KEPT_MS = 60 * 60 * 1000
/** For so long nobody else does what the first call is doing; then its process counts as dead. */
const WORKING_MS = 60_000
const WAIT_MS = 30_000
const LOOK_EVERY_MS = 100

export interface Answer {
  status: number
  headers?: Record<string, string>
  body: unknown
}

export interface Ask {
  /** What the key was sent with: equal keys of other callers, routes or parameters are other keys. */
  scope: string
  key: string | undefined
  body: unknown
}

export class Idempotency {
  readonly #redis: Redis
  readonly #keys: Keys

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis
    this.#keys = keys
  }

  /** Without a key the deed is just done. Throws `invalid_request` for a key that came with another body. */
  async once<T extends Answer>({ scope, key, body }: Ask, deed: (token: string) => Promise<T>): Promise<T> {
    if (key === undefined) return deed(newToken())
    const place = this.#keys.idempotent(contentHash([scope, key]))
    const hash = contentHash(body ?? null)
    for (const until = performance.now() + WAIT_MS; performance.now() < until; await sleep(LOOK_EVERY_MS)) {
      const args = [hash, newToken(), Date.now(), WORKING_MS, KEPT_MS]
      const [state, text] = (await beginOnce(this.#redis, [place], args)) as [string, string] // as the script says
      if (state === 'other') throw otherBody()
      if (state === 'answer') return JSON.parse(text) as T // written below
      if (state === 'do') return this.#do(place, () => deed(text))
    }
    throw new Fault('redis_unavailable', 'The first call with this Idempotency-Key is still at work; ask again')
  }

  async #do<T extends Answer>(place: string, deed: () => Promise<T>): Promise<T> {
    try {
      const answer = await deed()
      await this.#redis.hset(place, 'answer', JSON.stringify(answer))
      return answer
    } catch (error) {
      await this.#redis.hdel(place, 'working').catch(() => {}) // a failure is not kept: the next call tries again
      throw error
    }
  }
}

function newToken(): string {
  return randomBytes(10).toString('hex')
}

function otherBody(): Fault {
  return new Fault('invalid_request', 'This Idempotency-Key came with another body less than an hour ago', {
    errors: [{ path: 'headers.idempotency-key', message: 'stands for another body' }],
  })
}
