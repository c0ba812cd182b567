/**
 * Limits how many bytes a process holds for replies that clients have yet to take. A reply reserves its memory before it
 * makes its data and releases it as the client takes them.
 *
 * Clients that do not read cannot hold the memory: while a reply waits for memory, readers that hold some are dropped if
 * they take no byte for `stallMs`, or are not done after `maxHoldMs`. While none waits, they may take their time.
 */
import { ServiceError } from '../contract/errors.ts'
import { WeightedSemaphore } from './weighted-semaphore.ts'

export interface ReplyMemoryOptions {
  /** A reservation larger than this is granted alone. */
  limitBytes: number
  /** How long a reply waits for memory before it fails with `server_busy`. */
  waitMs: number
  stallMs: number
  maxHoldMs: number
  /** Called for each reader that is dropped. */
  onSlow?: () => void
}

/** The client of a reply. */
export interface ReplyReader {
  /** How many bytes its connection has taken so far. */
  takenBytes(): number
  /** Resolves when the connection ends. */
  closed: Promise<void>
  /** Ends the connection. */
  drop(): void
}

export interface ReplyReservation {
  granted: Promise<void>
  /** Gives a part of the bytes back, once the real size is known. */
  shrinkTo(bytes: number): void
  /** Also cancels a reservation that is not granted yet. */
  release(): void
}

interface HeldReply {
  reader: ReplyReader
  since: number
  takenBytes: number
  tookAt: number
}

export class ReplyMemory {
  readonly #options: ReplyMemoryOptions
  readonly #memory: WeightedSemaphore
  readonly #held = new Set<HeldReply>()
  readonly #checkMs: number
  readonly #timer: NodeJS.Timeout
  #waitingReplies = 0
  #checkedAt = performance.now()

  constructor(options: ReplyMemoryOptions) {
    this.#options = options
    this.#memory = new WeightedSemaphore(options.limitBytes)
    this.#checkMs = Math.min(1000, options.stallMs / 4)
    this.#timer = setInterval(() => this.#dropSlowReaders(), this.#checkMs).unref()
  }

  get reservedBytes(): number {
    return this.#memory.acquiredBytes
  }

  get limitBytes(): number {
    return this.#options.limitBytes
  }

  /** Throws `server_busy` if as many bytes wait as there may be held. */
  assertQueueHasSpace(bytes: number): void {
    const { waitingBytes } = this.#memory
    if (waitingBytes > 0 && waitingBytes + bytes > this.#options.limitBytes) throw createBusyError()
  }

  reserve(bytes: number): ReplyReservation {
    const { promise: granted, resolve } = Promise.withResolvers<void>()
    let held = Math.min(bytes, this.#options.limitBytes)
    const acquisition = this.#memory.acquire(held, resolve)
    const shrinkTo = (size: number) => {
      if (size >= held) return
      this.#memory.release(held - size)
      held = size
    }
    const release = () => {
      if (!acquisition.cancel()) shrinkTo(0)
      held = 0
    }
    return { granted, shrinkTo, release }
  }

  /** Waits for what a reader needs memory for. Throws `server_busy` after `waitMs`, or when the reader has left. */
  async waitFor<T>(reader: ReplyReader, result: Promise<T>): Promise<T> {
    const { promise: end, reject } = Promise.withResolvers<never>()
    const giveUp = () => reject(createBusyError())
    const timer = setTimeout(giveUp, this.#options.waitMs)
    void reader.closed.then(giveUp)
    this.#waitingReplies++
    try {
      return await Promise.race([result, end])
    } finally {
      this.#waitingReplies--
      clearTimeout(timer)
    }
  }

  /** The reader depends on reserved memory until the returned function is called. */
  hold(reader: ReplyReader): () => void {
    const now = performance.now()
    const held = { reader, since: now, takenBytes: reader.takenBytes(), tookAt: now }
    this.#held.add(held)
    return () => void this.#held.delete(held)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #dropSlowReaders(): void {
    const now = performance.now()
    const late = Math.max(0, now - this.#checkedAt - 2 * this.#checkMs) // this process was busy, so its clients are not slow
    this.#checkedAt = now
    for (const held of this.#held) {
      held.since += late
      held.tookAt += late
      const takenBytes = held.reader.takenBytes()
      if (takenBytes !== held.takenBytes) Object.assign(held, { takenBytes, tookAt: now })
      if (this.#waitingReplies === 0 || !this.#isSlow(held, now)) continue
      this.#held.delete(held)
      this.#options.onSlow?.()
      held.reader.drop()
    }
  }

  #isSlow({ since, tookAt }: HeldReply, now: number): boolean {
    return now - tookAt >= this.#options.stallMs || now - since >= this.#options.maxHoldMs
  }
}

function createBusyError(): ServiceError {
  return new ServiceError('server_busy', 'Other large replies take all memory that the server has for them; ask again')
}
