/**
 * `Idempotency-Key`: the same key and body within an hour give the same response, and nothing is done twice. The first call
 * gets a token that stays with the key. The token identifies the work, so that a retry after a crash finds what the first
 * attempt did. The decision is stored rather than the response, which is built from it again.
 */
import { randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { z } from 'zod'
import { contentHash } from '../../codec/content-hash.ts'
import { ServiceError } from '../../contract/errors.ts'
import { poll } from '../retry.ts'
import {
  type CallIdentity,
  IDEMPOTENCY_LIMITS,
  type IdempotencyLimits,
  IdempotencyRepository,
} from './idempotency-repository.ts'
import type { RedisKeys } from './keys.ts'

const MAX_WAIT_FOR_FIRST_CALL_MS = 30_000
const IDEMPOTENCY_POLL_INTERVAL_MS = 100
/** A third of a lease. */
const RENEW_INTERVAL_MS = 5000

export interface IdempotentRequest {
  callerId: string
  /** Equal keys of other callers, or in other scopes, are other keys. */
  scope: string
  key: string | undefined
  body: unknown
}

interface Performed<Decision, Answer> {
  decision: Decision
  answer: Answer
  /** Called once the decision is stored: notes under the token are no longer needed. */
  onStored?: () => Promise<void>
}

export interface IdempotentOperation<Decision, Answer> {
  /** The decision to store: small, but enough to build the response again. */
  decision: z.ZodType<Decision>
  /** Does the work. A retry under the same token finds what the first attempt did. The token is undefined without a key. */
  perform(token: string | undefined): Promise<Performed<Decision, Answer>>
  /** Builds the response to a repeated call. */
  replay(decision: Decision): Promise<Answer>
}

export class Idempotency {
  readonly #calls: IdempotencyRepository

  constructor(redis: Redis, keys: RedisKeys, limits: IdempotencyLimits = IDEMPOTENCY_LIMITS) {
    this.#calls = new IdempotencyRepository(redis, keys, limits)
  }

  /**
   * Without a key the work is simply done. Throws `invalid_request` for a key that was sent with another body, `rate_limited` if
   * there is no room for another key.
   */
  async runOnce<Decision, Answer>(
    { callerId, scope, key, body }: IdempotentRequest,
    operation: IdempotentOperation<Decision, Answer>,
  ): Promise<Answer> {
    if (key === undefined) return (await operation.perform(undefined)).answer
    const call = { callerId, keyHash: contentHash([callerId, scope, key]), bodyHash: contentHash(body ?? null) }
    const startUnlessInProgress = async () => {
      const state = await this.#calls.start(call, createCallToken())
      return state.kind === 'wait' ? undefined : state
    }
    // Polled, because the call in progress may be in a process that dies without a message.
    const state = await poll(startUnlessInProgress, {
      everyMs: IDEMPOTENCY_POLL_INTERVAL_MS,
      timeoutMs: MAX_WAIT_FOR_FIRST_CALL_MS,
    })
    switch (state?.kind) {
      case 'other_body':
        throw bodyMismatchError()
      case 'full':
        throw noRoomError(state.retryAfterMs)
      case 'done':
        return operation.replay(operation.decision.parse(state.decision))
      case 'do':
        return this.#perform(call, state.token, operation)
      case undefined:
        throw new ServiceError(
          'idempotency_in_progress',
          'The first call with this Idempotency-Key is still in progress. Retry.',
        )
    }
  }

  async #perform<Decision, Answer>(
    call: CallIdentity,
    token: string,
    operation: IdempotentOperation<Decision, Answer>,
  ): Promise<Answer> {
    const renewal = setInterval(() => void this.#calls.renew(call, token).catch(() => {}), RENEW_INTERVAL_MS)
    try {
      const { decision, answer, onStored } = await operation.perform(token)
      const counts = await this.#calls.finish(call, token, decision)
      void onStored?.().catch(() => {}) // it expires
      return counts === decision ? answer : await operation.replay(operation.decision.parse(counts))
    } catch (error) {
      await this.#calls.release(call, token).catch(() => {}) // a failure is not stored: the next call tries again
      throw error
    } finally {
      clearInterval(renewal)
    }
  }
}

/** Identifies the work of one call. */
export function createCallToken(): string {
  return randomBytes(10).toString('hex')
}

function bodyMismatchError(): ServiceError {
  return new ServiceError(
    'invalid_request',
    'This Idempotency-Key was used with another body less than an hour ago. Use a new key.',
    {
      errors: [{ path: 'headers.idempotency-key', message: 'was used with another body' }],
    },
  )
}

function noRoomError(retryAfterMs: number): ServiceError {
  return new ServiceError(
    'rate_limited',
    'The server stores too many responses for calls with an Idempotency-Key. Send fewer of them, or retry later.',
    { retryAfter: Math.min(60, Math.max(1, Math.ceil(retryAfterMs / 1000))) },
  )
}
