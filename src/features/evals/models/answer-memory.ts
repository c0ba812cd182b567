/**
 * Limits the size of a model's answer, and how much memory large answers take in a worker. An answer that proves to be large
 * reserves the most that it may take before the rest is read, and keeps that until its sample is recorded. Small answers,
 * which are nearly all, wait for nothing.
 */
import { assertJsonLimits } from '../../../http/bodies/json-limits.ts'
import { WeightedSemaphore } from '../../../platform/weighted-semaphore.ts'
import { BlockedRequestError } from './model-errors.ts'

const MIB = 1024 * 1024
/** A completion of 128k tokens with its tokens and logprobs as JSON fits. */
export const MAX_ANSWER_BYTES = 16 * MIB
const SMALL_ANSWER_BYTES = MIB / 4
/** Eight large answers at once. Parsed, an answer takes a few times its size. */
const CAPACITY_BYTES = 128 * MIB
const FIRST_BUFFER_BYTES = 64 * 1024

/** What one sample may reserve. */
export interface MemoryHold {
  /** Waits until the memory is free. The first call reserves, further ones do nothing. */
  reserve(signal?: AbortSignal): Promise<void>
}

export class AnswerMemory {
  readonly #memory: WeightedSemaphore

  constructor(capacityBytes = CAPACITY_BYTES) {
    this.#memory = new WeightedSemaphore(capacityBytes)
  }

  /** Runs the work, which may reserve `bytes` once, and then releases them. Work must not wait for other work that holds memory. */
  async hold<T>(bytes: number, work: (hold: MemoryHold) => Promise<T>): Promise<T> {
    let isReserved = false
    const reserve = async (signal?: AbortSignal) => {
      if (isReserved) return
      await this.#acquire(bytes, signal)
      isReserved = true
    }
    try {
      return await work({ reserve })
    } finally {
      if (isReserved) this.#memory.release(bytes)
    }
  }

  async #acquire(bytes: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const acquisition = this.#memory.acquire(bytes, resolve)
    const abort = () => acquisition.cancel() && reject(signal?.reason)
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()
    await promise.finally(() => signal?.removeEventListener('abort', abort))
  }
}

interface ReadAnswerOptions {
  hold: MemoryHold
  signal: AbortSignal
  /** Called when the answer has reserved memory that others may wait for. */
  onLarge: () => void
}

/** Reads the whole answer as text. Throws a `BlockedRequestError` if it is too large, or nested too deeply to be stored. */
export async function readAnswer(response: Response, { hold, signal, onLarge }: ReadAnswerOptions): Promise<string> {
  let bytes = 0
  let isLarge = false
  let answer = Buffer.alloc(FIRST_BUFFER_BYTES) // one buffer: a server may send its answer byte by byte
  for await (const chunk of response.body ?? []) {
    if (bytes + chunk.byteLength > MAX_ANSWER_BYTES)
      throw new BlockedRequestError(`the response is over ${MAX_ANSWER_BYTES} bytes`)
    if (!isLarge && bytes + chunk.byteLength > SMALL_ANSWER_BYTES) {
      await hold.reserve(signal)
      onLarge()
      isLarge = true
    }
    if (bytes + chunk.byteLength > answer.byteLength) answer = Buffer.concat([answer], 2 * (bytes + chunk.byteLength)) // filled up with zeros
    answer.set(chunk, bytes)
    bytes += chunk.byteLength
  }
  const whole = answer.subarray(0, bytes)
  try {
    assertJsonLimits(whole)
  } catch (cause) {
    throw new BlockedRequestError('the response is nested too deeply, or has too many entries', { cause })
  }
  return new TextDecoder().decode(whole)
}
