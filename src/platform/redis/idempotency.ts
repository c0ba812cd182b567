/**
 * `Idempotency-Key`: the same key and body within an hour give the same answer, and nothing is done twice. The first call
 * is given a token that stays with the key: what is done under it is named by it, so that a second try after a crash
 * finds what the first one did.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { contentHash } from '../../codec/content-hash.ts'
import { ServiceError } from '../../contract/errors.ts'
import type { RedisKeys } from './keys.ts'
import { defineScript } from './scripts.ts'

const startIdempotentCall = defineScript({
  folder: import.meta.dirname,
  name: 'start-idempotent-call',
  keys: ['idempotencyKey'],
})

const IDEMPOTENCY_KEY_TTL_MS = 60 * 60 * 1000
/** For so long nobody else does what the first call is doing; then its process counts as dead. */
const CALL_ABANDONED_AFTER_MS = 60_000
const MAX_WAIT_FOR_FIRST_CALL_MS = 30_000
const IDEMPOTENCY_POLL_INTERVAL_MS = 100

export interface IdempotentResponse {
  status: number
  headers?: Record<string, string>
  body: unknown
}

export interface IdempotentRequest {
  /** What the key was sent with: equal keys of other callers, routes or parameters are other keys. */
  scope: string
  key: string | undefined
  body: unknown
}

export class Idempotency {
  readonly #redis: Redis
  readonly #keys: RedisKeys

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = keys
  }

  /** Without a key the deed is just done. Throws `invalid_request` for a key that came with another body. */
  async runOnce<T extends IdempotentResponse>(
    { scope, key, body }: IdempotentRequest,
    deed: (token: string) => Promise<T>,
  ): Promise<T> {
    if (key === undefined) return deed(createToken())
    const place = this.#keys.key(`idempotency:${contentHash([scope, key])}`)
    const hash = contentHash(body ?? null)
    for (
      const until = performance.now() + MAX_WAIT_FOR_FIRST_CALL_MS;
      performance.now() < until;
      await sleep(IDEMPOTENCY_POLL_INTERVAL_MS)
    ) {
      const args = [hash, createToken(), Date.now(), CALL_ABANDONED_AFTER_MS, IDEMPOTENCY_KEY_TTL_MS]
      const [state, text] = (await startIdempotentCall(this.#redis, { idempotencyKey: place }, args)) as [
        string,
        string,
      ] // as the script says
      if (state === 'other') throw bodyMismatchError()
      if (state === 'answer') return JSON.parse(text) as T // written below
      if (state === 'do') return this.#runAndStoreResponse(place, () => deed(text))
    }
    throw new ServiceError(
      'idempotency_in_progress',
      'The first call with this Idempotency-Key is still in progress; retry',
    )
  }

  async #runAndStoreResponse<T extends IdempotentResponse>(place: string, deed: () => Promise<T>): Promise<T> {
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

function createToken(): string {
  return randomBytes(10).toString('hex')
}

function bodyMismatchError(): ServiceError {
  return new ServiceError('invalid_request', 'This Idempotency-Key came with another body less than an hour ago', {
    errors: [{ path: 'headers.idempotency-key', message: 'stands for another body' }],
  })
}
