/** Stores the decision of each call with an `Idempotency-Key` in Redis, compressed, within limits per caller and in total. */

import { decodeBlob, encodeBlob } from '@reasoning-gym-server/codec/compressed-blob'
import type { Redis } from 'ioredis'
import { fleetNow } from './fleet-clock.ts'
import type { RedisKeys } from './keys.ts'
import { RecordDeclaration } from './record.ts'
import { defineScript } from './scripts.ts'

const idempotencyRecord = new RecordDeclaration({
  /** Hash of the body that was sent with the key. */
  body: { kind: 'text' },
  /** Identifies the work that is done under the key. */
  token: { kind: 'text' },
  /** Lease of the call in progress, which its process renews. No other call does the same work until it ends. */
  working_until: { kind: 'timestamp' },
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

const KEYS = ['record', 'callerRecords', 'bytes'] as const
const defineRecordScript = (name: string) =>
  defineScript({
    folder: import.meta.dirname,
    name,
    keys: KEYS,
    constants: { RECORD: idempotencyRecord.constants, LIMITS },
  })
const startIdempotentCall = defineRecordScript('start-idempotent-call')
const finishIdempotentCall = defineRecordScript('finish-idempotent-call')
const renewIdempotentCall = defineRecordScript('renew-idempotent-call')

/** A key of a caller, and the body that was sent with it, both as hashes. */
export interface CallIdentity {
  callerId: string
  keyHash: string
  bodyHash: string
}

export type CallState =
  /** The caller must do the work, under this token. */
  | { kind: 'do'; token: string }
  /** Another call is in progress. */
  | { kind: 'wait' }
  | { kind: 'done'; decision: unknown }
  | { kind: 'other_body' }
  /** All records, of the caller or in total, are too young to be dropped. */
  | { kind: 'full'; retryAfterMs: number }

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
    const args = [call.bodyHash, token, fleetNow() + WORK_LEASE_MS]
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

  /** Returns the decision that counts: this one, or that of another call under the same token which finished before. */
  async finish(call: CallIdentity, token: string, decision: unknown): Promise<unknown> {
    const text = encodeBlob(Buffer.from(JSON.stringify(decision))).toString('base64')
    const earlier = (await finishIdempotentCall(...this.#script(call, [token, text]))) as string // as the script says
    return earlier === '' ? decision : parseDecision(earlier)
  }

  /** Renews the lease of the call in progress. */
  async renew(call: CallIdentity, token: string): Promise<void> {
    await renewIdempotentCall(...this.#script(call, [token, fleetNow() + WORK_LEASE_MS]))
  }

  /** The call failed. The next one with its key tries again, under the same token. */
  async release(call: CallIdentity, token: string): Promise<void> {
    await renewIdempotentCall(...this.#script(call, [token, 0]))
  }

  /** All keys share a slot, because the records of a caller that uses too much are dropped to make room for others. */
  #script(call: CallIdentity, args: (string | number)[]): Parameters<typeof startIdempotentCall> {
    const slot = this.#keys.slot('idempotency')
    const records = `${slot}:record:`
    const lists = `${slot}:of:`
    const keys = {
      record: records + call.keyHash,
      callerRecords: lists + call.callerId,
      bytes: `${slot}:bytes-by-caller`,
    }
    const { bytesPerCaller, bytes, protectedMs } = this.#limits
    const common = [call.keyHash, call.callerId, records, lists, fleetNow(), bytesPerCaller, bytes, protectedMs]
    return [this.#redis, keys, [...common, ...args]]
  }
}

function parseDecision(text: string): unknown {
  return JSON.parse(decodeBlob(Buffer.from(text, 'base64')).toString())
}
