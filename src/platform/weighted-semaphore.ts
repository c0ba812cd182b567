/** Room for so many bytes at once: who finds none left waits, in the order of coming. What is larger than all of it comes alone. */
export class WeightedSemaphore {
  readonly #capacity: number
  #available: number
  readonly #waiters: Waiter[] = []

  constructor(size: number) {
    this.#capacity = size
    this.#available = size
  }

  get waitingCount(): number {
    return this.#waiters.length
  }

  /** Calls `onAcquired` as soon as there is room, perhaps at once. `cancel` says whether it still waited. */
  acquire(bytes: number, onAcquired: () => void): { cancel(): boolean } {
    const waiter = { bytes: this.#clampToCapacity(bytes), onAcquired }
    this.#waiters.push(waiter)
    this.#grantWaiters()
    const cancel = () => {
      const at = this.#waiters.indexOf(waiter)
      if (at < 0) return false
      this.#waiters.splice(at, 1)
      this.#grantWaiters() // it may have stood before smaller ones
      return true
    }
    return { cancel }
  }

  /** Gives back what was asked for. */
  release(bytes: number): void {
    this.#available += this.#clampToCapacity(bytes)
    this.#grantWaiters()
  }

  /** Does the work once there is room for it. */
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
