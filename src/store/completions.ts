/** News of completed groups: one subscription for each process, and a map of those who wait. */
import type { Redis } from 'ioredis'
import { type GroupPlace, noticeOf } from './groups.ts'

export interface Expectation {
  promise: Promise<void>
  cancel(): void
}

export class Completions {
  readonly #redis: Redis
  readonly #waiting = new Map<string, Set<() => void>>()
  #closed = false

  /** `redis` is a connection of its own: it can do nothing else once it is subscribed. */
  constructor(redis: Redis, channel: string) {
    this.#redis = redis
    redis.on('message', (_channel, notice) => this.#announce(notice))
    redis.subscribe(channel).catch(() => {}) // ioredis subscribes again whenever it connects; waits have deadlines
  }

  /** Begins to listen; `promise` resolves at the completion or after `timeoutMs`, whichever comes first. */
  expect(place: GroupPlace, timeoutMs: number): Expectation {
    return this.#expect(noticeOf(place), timeoutMs)
  }

  /** The same for the next group of a run, whichever it is. */
  expectAny({ name, epoch }: { name: string; epoch: number }, timeoutMs: number): Expectation {
    return this.#expect(`${name}/${epoch}`, timeoutMs)
  }

  get closed(): boolean {
    return this.#closed
  }

  #expect(notice: string, timeoutMs: number): Expectation {
    const { promise, resolve } = Promise.withResolvers<void>()
    if (this.#closed) resolve()
    const waiting = this.#waiting.get(notice) ?? new Set()
    this.#waiting.set(notice, waiting.add(resolve))
    const timer = setTimeout(resolve, timeoutMs)
    const cancel = () => {
      clearTimeout(timer)
      waiting.delete(resolve)
      // Called again later: by then others may wait for the same under a set of their own.
      if (waiting.size === 0 && this.#waiting.get(notice) === waiting) this.#waiting.delete(notice)
      resolve()
    }
    return { promise: promise.finally(cancel), cancel }
  }

  close(): void {
    this.#closed = true
    for (const waiting of this.#waiting.values()) for (const resolve of waiting) resolve()
    this.#redis.disconnect()
  }

  #announce(notice: string): void {
    for (const resolve of this.#waiting.get(notice) ?? []) resolve()
    for (const resolve of this.#waiting.get(notice.slice(0, notice.lastIndexOf('/'))) ?? []) resolve()
  }
}
