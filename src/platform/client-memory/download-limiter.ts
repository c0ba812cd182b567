/**
 * Limits how many bytes a process holds for replies that clients have not read yet. A reply reserves memory before its data
 * is made, and releases it as the client reads.
 *
 * Clients that do not read cannot block others: while a reply waits for memory, readers that hold memory are dropped if they
 * read less than `MIN_BYTES_PER_S` in the last `slowMs / 2`. While no reply waits, readers may be slow; and a reader that has
 * read everything sent so far is never slow.
 */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { WeightedSemaphore } from '../weighted-semaphore.ts'

interface DownloadLimiterOptions {
  /** A reservation larger than this is granted alone. */
  limitBytes: number
  /** How long a reply waits for memory before it fails with `server_busy`. */
  waitMs: number
  slowMs: number
  /** Called for each reader that is dropped. */
  onSlow?: () => void
}

const MIN_BYTES_PER_S = 256 * 1024
const WINDOW_FACTOR = 1 / 2

/** The client of a reply. */
export interface ReplyReader {
  /** Number of bytes that the connection has accepted so far. */
  takenBytes(): number
  /** Whether the client has read all bytes sent so far. */
  isIdle(): boolean
  /** Aborted when the connection ends. */
  closed: AbortSignal
  /** Ends the connection. */
  drop(): void
}

export interface ReplyReservation {
  granted: Promise<void>
  /** Releases a part of the bytes once the real size is known. */
  shrinkTo(bytes: number): void
  /** Also cancels a reservation that is not granted yet. */
  release(): void
}

interface HeldReply {
  reader: ReplyReader
  /** Bytes that the reader had read at that time. */
  since: number
  takenBytes: number
}

export class DownloadLimiter {
  readonly #options: DownloadLimiterOptions
  readonly #memory: WeightedSemaphore
  readonly #held = new Set<HeldReply>()
  readonly #checkMs: number
  readonly #timer: NodeJS.Timeout
  #waitingReplies = 0
  #checkedAt = performance.now()

  constructor(options: DownloadLimiterOptions) {
    this.#options = options
    this.#memory = new WeightedSemaphore(options.limitBytes)
    this.#checkMs = Math.min(1000, options.slowMs / 8)
    this.#timer = setInterval(() => this.#dropSlowReaders(), this.#checkMs).unref()
  }

  get reservedBytes(): number {
    return this.#memory.acquiredBytes
  }

  get limitBytes(): number {
    return this.#options.limitBytes
  }

  /** Throws `server_busy` if the waiting bytes already equal the limit. */
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

  /** Waits for memory. Throws `server_busy` after `waitMs`, or the signal's reason when the reader has disconnected. */
  async waitFor<T>(reader: ReplyReader, result: Promise<T>): Promise<T> {
    const { promise: end, reject } = Promise.withResolvers<never>()
    const giveUp = () => reject(createBusyError())
    const leave = () => reject(reader.closed.reason)
    const timer = setTimeout(giveUp, this.#options.waitMs)
    reader.closed.addEventListener('abort', leave)
    if (reader.closed.aborted) leave()
    this.#waitingReplies++
    try {
      return await Promise.race([result, end])
    } finally {
      this.#waitingReplies--
      clearTimeout(timer)
      reader.closed.removeEventListener('abort', leave)
    }
  }

  /** The reader depends on reserved memory until the returned function is called. */
  hold(reader: ReplyReader): () => void {
    const held = { reader, since: performance.now(), takenBytes: reader.takenBytes() }
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
    const isContested = this.#waitingReplies > 0 && this.#memory.waitingCount > 0 // a reply may also wait for Redis
    for (const held of this.#held) {
      held.since += late
      const { reader, since } = held
      if (!reader.isIdle()) {
        if (now - since < this.#options.slowMs * WINDOW_FACTOR) continue
        const minBytes = (MIN_BYTES_PER_S * (now - since)) / 1000
        if (isContested && reader.takenBytes() - held.takenBytes < minBytes) {
          this.#drop(held)
          continue
        }
      }
      Object.assign(held, { since: now, takenBytes: reader.takenBytes() })
    }
  }

  #drop(held: HeldReply): void {
    this.#held.delete(held)
    this.#options.onSlow?.()
    held.reader.drop()
  }
}

function createBusyError(): ServiceError {
  return new ServiceError(
    'server_busy',
    'Other large replies use all memory reserved for replies (REPLIES_MAX_BYTES). Retry.',
  )
}
