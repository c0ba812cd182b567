/** Room for so many bytes at once: who finds none left waits, in the order of coming. What is larger than all of it comes alone. */
export class ByteRoom {
  readonly #size: number
  #free: number
  readonly #waiting: Place[] = []

  constructor(size: number) {
    this.#size = size
    this.#free = size
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Calls `enter` as soon as there is room, perhaps at once. `cancel` says whether it still waited. */
  ask(bytes: number, enter: () => void): { cancel(): boolean } {
    const place = { bytes: this.#held(bytes), enter }
    this.#waiting.push(place)
    this.#admit()
    const cancel = () => {
      const at = this.#waiting.indexOf(place)
      if (at < 0) return false
      this.#waiting.splice(at, 1)
      this.#admit() // it may have stood before smaller ones
      return true
    }
    return { cancel }
  }

  /** Gives back what was asked for. */
  leave(bytes: number): void {
    this.#free += this.#held(bytes)
    this.#admit()
  }

  /** Does the work once there is room for it. */
  async within<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ask(bytes, resolve)
    await promise
    try {
      return await work()
    } finally {
      this.leave(bytes)
    }
  }

  #held(bytes: number): number {
    return Math.min(bytes, this.#size)
  }

  #admit(): void {
    for (let first = this.#waiting[0]; first && first.bytes <= this.#free; first = this.#waiting[0]) {
      this.#waiting.shift()
      this.#free -= first.bytes
      first.enter()
    }
  }
}

interface Place {
  bytes: number
  enter: () => void
}
