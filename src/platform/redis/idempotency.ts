/**
 * `Idempotency-Key`: the same key and body within an hour give the same response, and nothing is done twice. The first call
 * gets a token that stays with the key. The token identifies the work, so that a retry after a crash finds what the first
 * attempt did. The decision is stored rather than the response, which is built from it again.
 */
import { randomBytes } from 'node:crypto'
import { decodeBlob, encodeBlob } from '@reasoning-gym-server/codec/compressed-blob'
import { contentHash } from '@reasoning-gym-server/codec/content-hash'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Redis } from 'ioredis'
import type { z } from 'zod'
import type { RedisKeys } from './keys.ts'
import { formatChannel, type Notifications } from './notifications.ts'
import { RecordDeclaration } from './record.ts'
import { redisNow } from './redis-clock.ts'
import { defineScript } from './scripts.ts'

const MAX_WAIT_FOR_FIRST_CALL_MS = 30_000
/** A third of a lease. */
const RENEW_INTERVAL_MS = 5000

interface IdempotentRequest {
  callerId: string
  /** Equal keys of other callers, or in other scopes, are other keys. */
  scope: string
  key: string | undefined
  body: unknown
}

interface Performed<Decision, Answer> {
  decision: Decision
  answer: Answer
  /** Called once the decision is stored: what is recorded under the token is no longer needed. */
  onStored?: () => Promise<void>
}

interface IdempotentOperation<Decision, Answer> {
  /** The decision to store: small, but enough to build the response again. */
  decision: z.ZodType<Decision>
  /** Does the work. A retry under the same token finds what the first attempt did. The token is undefined without a key. */
  perform(token: string | undefined): Promise<Performed<Decision, Answer>>
  /** Builds the response to a repeated call. */
  replay(decision: Decision): Promise<Answer>
}

export class Idempotency {
  readonly #calls: IdempotencyRepository
  readonly #notifications: Notifications

  constructor(redis: Redis, keys: RedisKeys, notifications: Notifications, limits = IDEMPOTENCY_LIMITS) {
    this.#calls = new IdempotencyRepository(redis, keys, limits)
    this.#notifications = notifications
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
    const state = await this.#notifications.poll(this.#calls.getTopic(call), startUnlessInProgress, {
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

const idempotencyRecord = new RecordDeclaration({
  /** Hash of the body that was sent with the key. */
  body: { kind: 'text' },
  /** Identifies the work that is done under the key. */
  token: { kind: 'text' },
  /** Lease of the call in progress, which its process renews. No other call does the same work until it ends. */
  working_until: { kind: 'timestamp' },
  /** 1 if other calls wait for the one in progress. */
  awaited: { kind: 'counter' },
  /** The decision: a compressed blob of JSON in base64. */
  decision: { kind: 'text' },
})

/** Memory that records may take. */
export interface IdempotencyLimits {
  bytesPerCaller: number
  bytes: number
  /** Records that are younger are never dropped to make room. */
  protectedMs: number
}

export const IDEMPOTENCY_LIMITS: IdempotencyLimits = {
  bytesPerCaller: 64 * 1024 ** 2,
  bytes: 256 * 1024 ** 2,
  protectedMs: 5 * 60_000, // as long as the Python client retries
}

const RECORD_TTL_MS = 60 * 60 * 1000
/** A process that has not renewed its lease for this long counts as dead. */
const WORK_LEASE_MS = 15_000

const LIMITS = {
  record_ttl_ms: RECORD_TTL_MS,
  /** Memory of a record and its entry in the caller's list, besides the decision, rounded up. */
  record_bytes: 800,
  /** Maximum number of records that one script drops, so that no script takes long. */
  dropped_at_once: 500,
}

const CONSTANTS = { RECORD: idempotencyRecord.constants, LIMITS }
const startIdempotentCall = defineScript(import.meta.dirname, 'start-idempotent-call', CONSTANTS)
const finishIdempotentCall = defineScript(import.meta.dirname, 'finish-idempotent-call', CONSTANTS)
const renewIdempotentCall = defineScript(import.meta.dirname, 'renew-idempotent-call', CONSTANTS)

/** A key of a caller, and the body that was sent with it, both as hashes. */
interface CallIdentity {
  callerId: string
  keyHash: string
  bodyHash: string
}

type CallState =
  /** The caller must do the work, under this token. */
  | { kind: 'do'; token: string }
  /** Another call is in progress. */
  | { kind: 'wait' }
  | { kind: 'done'; decision: unknown }
  | { kind: 'other_body' }
  /** All records, of the caller or in total, are too young to be dropped. */
  | { kind: 'full'; retryAfterMs: number }

/** Stores the decision of each call in Redis, compressed, within limits per caller and in total. */
export class IdempotencyRepository {
  readonly #redis: Redis
  readonly #keys: RedisKeys
  readonly #limits: IdempotencyLimits

  constructor(redis: Redis, keys: RedisKeys, limits: IdempotencyLimits) {
    this.#redis = redis
    this.#keys = keys
    this.#limits = limits
  }

  /** `token` is for a key that is new. */
  async start(call: CallIdentity, token: string): Promise<CallState> {
    const args = [call.bodyHash, token, redisNow() + WORK_LEASE_MS]
    const [kind, value] = (await startIdempotentCall(...this.#script(call, args))) as [CallState['kind'], string] // as the script says
    switch (kind) {
      case 'do':
        return { kind, token: value }
      case 'done':
        return { kind, decision: parseDecision(value) }
      case 'full':
        return { kind, retryAfterMs: Number(value) }
      default:
        return { kind }
    }
  }

  /** The topic of the notification that the call in progress has ended. */
  getTopic({ keyHash }: CallIdentity): string {
    return `${this.#keys.slot('idempotency')}:record:${keyHash}`
  }

  /** Returns the decision that counts: this one, or that of another call under the same token which finished before. */
  async finish(call: CallIdentity, token: string, decision: unknown): Promise<unknown> {
    const text = encodeBlob(Buffer.from(JSON.stringify(decision))).toString('base64')
    const earlier = (await finishIdempotentCall(
      ...this.#script(call, [token, text, formatChannel(this.#keys)]),
    )) as string // as the script says
    return earlier === '' ? decision : parseDecision(earlier)
  }

  /** Renews the lease of the call in progress. */
  async renew(call: CallIdentity, token: string): Promise<void> {
    await renewIdempotentCall(...this.#script(call, [token, redisNow() + WORK_LEASE_MS]))
  }

  /** The call failed. The next one with its key tries again, under the same token. */
  async release(call: CallIdentity, token: string): Promise<void> {
    await renewIdempotentCall(...this.#script(call, [token, 0, formatChannel(this.#keys)]))
  }

  /** All keys share a slot, because the records of a caller that uses too much are dropped to make room for others. */
  #script(call: CallIdentity, args: (string | number)[]): Parameters<typeof startIdempotentCall> {
    const slot = this.#keys.slot('idempotency')
    const records = `${slot}:record:`
    const lists = `${slot}:of:`
    const keys = {
      record: this.getTopic(call),
      callerRecords: lists + call.callerId,
      bytes: `${slot}:bytes-by-caller`,
    }
    const { bytesPerCaller, bytes, protectedMs } = this.#limits
    const common = [call.keyHash, call.callerId, records, lists, redisNow(), bytesPerCaller, bytes, protectedMs]
    return [this.#redis, keys, [...common, ...args]]
  }
}

function parseDecision(text: string): unknown {
  return JSON.parse(decodeBlob(Buffer.from(text, 'base64')).toString())
}
