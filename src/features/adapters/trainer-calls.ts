/**
 * How a trainer's call is answered: work is retried while the client waits, the delivery of the answer is known, and
 * rewards are written as floats. Python reads `1` as an int, and a batch of only ints becomes an integer tensor, which
 * has no mean.
 */

import { isTemporaryFailure } from '@reasoning-gym-server/contract/errors'
import type { FastifyReply } from 'fastify'
import { translateRedisError } from '../../platform/redis/redis-errors.ts'
import { retry } from '../../platform/retry.ts'

const FIRST_RETRY_MS = 100
const MAX_RETRY_MS = 1000

/**
 * Retries the work while it fails for a temporary reason on the server. Stops at the deadline or when the signal
 * aborts.
 */
export function retryUntil<T>(deadline: number, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const onError = (cause: unknown, nextPauseMs: number) => {
    const error = translateRedisError(cause)
    if (!isTemporaryFailure(error) || performance.now() + nextPauseMs > deadline || signal?.aborted) throw error
  }
  return retry(work, { pauseMs: FIRST_RETRY_MS, maxPauseMs: MAX_RETRY_MS, onError, signal })
}

/**
 * Resolves to true once the response is sent, or to false if the client disconnected or got an error. Never rejects.
 */
export type Delivery = Promise<boolean>

/** Tracks whether the response to a call is sent on a connection that is still open. */
export function observeDelivery({ raw }: Pick<FastifyReply, 'raw'>): Delivery {
  return new Promise((resolve) => {
    if (raw.destroyed) resolve(false)
    raw.once('finish', () => resolve(raw.statusCode < 400))
    raw.once('close', () => resolve(raw.writableFinished && raw.statusCode < 400))
  })
}

export function formatFloat(value: number): string {
  return Number.isSafeInteger(value) ? `${value}.0` : String(value)
}

export function formatFloats(values: readonly number[]): string {
  return `[${values.map(formatFloat).join(', ')}]`
}
