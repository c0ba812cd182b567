/** Notifies waiting calls of completed groups, with one Redis subscription per process. */
import type { Redis } from 'ioredis'
import { formatGroupPath, type GroupRef } from './records.ts'

interface CancellableWait {
  promise: Promise<void>
  cancel(): void
}

export class GroupCompletionListener {
  readonly #redis: Redis
  readonly #waiters = new Map<string, Set<() => void>>()
  #closed = false

  /** `redis` must be a separate connection, because a subscribed connection can run no other commands. */
  constructor(redis: Redis, channel: string) {
    this.#redis = redis
    redis.on('message', (_channel, notice) => this.#notifyWaiters(notice))
    redis.subscribe(channel).catch(() => {}) // ioredis resubscribes on every connect, and waits have deadlines
  }

  /** Starts to listen. `promise` resolves at the completion or after `timeoutMs`, whichever comes first. */
  waitForGroup(place: GroupRef, timeoutMs: number): CancellableWait {
    return this.#addWaiter(formatGroupPath(place), timeoutMs)
  }

  /** Does the same for the next completed group of a run, whichever it is. */
  waitForAnyGroup({ name, epoch }: { name: string; epoch: number }, timeoutMs: number): CancellableWait {
    return this.#addWaiter(`${name}/${epoch}`, timeoutMs)
  }

  get closed(): boolean {
    return this.#closed
  }

  #addWaiter(notice: string, timeoutMs: number): CancellableWait {
    const { promise, resolve } = Promise.withResolvers<void>()
    if (this.#closed) resolve()
    const waiting = this.#waiters.get(notice) ?? new Set()
    this.#waiters.set(notice, waiting.add(resolve))
    const timer = setTimeout(resolve, timeoutMs)
    const cancel = () => {
      clearTimeout(timer)
      waiting.delete(resolve)
      // This can be called a second time. By then, others may wait for the same group under another set.
      if (waiting.size === 0 && this.#waiters.get(notice) === waiting) this.#waiters.delete(notice)
      resolve()
    }
    return { promise: promise.finally(cancel), cancel }
  }

  close(): void {
    this.#closed = true
    for (const waiting of this.#waiters.values()) for (const resolve of waiting) resolve()
    this.#redis.disconnect()
  }

  #notifyWaiters(notice: string): void {
    for (const resolve of this.#waiters.get(notice) ?? []) resolve()
    for (const resolve of this.#waiters.get(notice.slice(0, notice.lastIndexOf('/'))) ?? []) resolve()
  }
}
