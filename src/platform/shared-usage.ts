/**
 * A size that several processes add to. The sum over all of them is read from Redis at most every so often, and what this
 * process has added since is counted on top.
 */
export class SharedUsage {
  readonly #readSum: () => Promise<number>
  readonly #cacheTtlMs: number
  #cached = { bytes: 0, at: Number.NEGATIVE_INFINITY }
  #addedSinceRefresh = 0
  #refreshing: Promise<void> | undefined

  constructor(readSum: () => Promise<number>, cacheTtlMs: number) {
    this.#readSum = readSum
    this.#cacheTtlMs = cacheTtlMs
  }

  async read(): Promise<number> {
    await this.#refreshIfOld()
    return this.#cached.bytes + this.#addedSinceRefresh
  }

  /** Adds the bytes unless the sum would exceed the limit. Returns whether it did. */
  async addWithin(bytes: number, maxBytes: number): Promise<boolean> {
    await this.#refreshIfOld()
    if (this.#cached.bytes + this.#addedSinceRefresh + bytes > maxBytes) return false
    this.add(bytes)
    return true
  }

  add(bytes: number): void {
    this.#addedSinceRefresh += bytes
  }

  async #refreshIfOld(): Promise<void> {
    if (performance.now() - this.#cached.at <= this.#cacheTtlMs) return
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined
    })
    await this.#refreshing
  }

  /** Runs one refresh at a time, because two would both subtract what was added before. */
  async #refresh(): Promise<void> {
    const added = this.#addedSinceRefresh
    const bytes = await this.#readSum()
    this.#cached = { bytes, at: performance.now() }
    // bytes added during the request may be in the sum or not, so they count until the next refresh
    this.#addedSinceRefresh -= added
  }
}
