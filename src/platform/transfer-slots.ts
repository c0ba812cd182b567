/**
 * Lets a fixed number of large request bodies or large replies be in memory at a time. Further ones wait, first in, first out, and
 * are rejected with `server_busy` after `waitMs`. Clients that stop in the middle cannot block others: while a transfer waits,
 * slow ones lose their slot. A caller gets at most three quarters of the slots.
 */
import { ServiceError } from '@reasoning-gym-server/contract/errors'

interface TransferSlotsOptions {
  slots: number
  waitMs: number
  /** While others wait, a transfer that moves less than 64 KiB per second in a quarter of this time is dropped. */
  slowMs: number
  /** The setting that `server_busy` names. */
  setting: string
  onSlow?: () => void
}

export interface Transfer {
  caller: string
  /** Bytes that have arrived, or that the client has read. */
  countBytes(): number
  /** Whether it does not wait for its client. */
  isIdle(): boolean
  /** Aborted when the connection ends. */
  closed: AbortSignal
  /** false: rejected at once without a free slot. */
  mayWait?: boolean
  drop(): void
}

interface RunningTransfer {
  transfer: Transfer
  /** Bytes that it had moved at that time. */
  since: number
  bytes: number
}

interface WaitingTransfer {
  transfer: Transfer
  since: number
  start(): void
  reject(reason: unknown): void
}

const MIN_BYTES_PER_S = 64 * 1024
const WINDOW_FACTOR = 1 / 4
const CALLER_SHARE = 3 / 4

export class TransferSlots {
  readonly #options: TransferSlotsOptions
  readonly #running = new Set<RunningTransfer>()
  readonly #waiting = new Set<WaitingTransfer>()
  readonly #checkMs: number
  readonly #timer: NodeJS.Timeout
  #checkedAt = performance.now()

  constructor(options: TransferSlotsOptions) {
    this.#options = options
    this.#checkMs = Math.min(1000, options.slowMs / 8)
    this.#timer = setInterval(() => this.#check(), this.#checkMs).unref()
  }

  get used(): number {
    return this.#running.size
  }

  get limit(): number {
    return this.#options.slots
  }

  /** Waits for a slot and returns what releases it. Rejects with `server_busy`, or the signal's reason if the client has left. */
  acquire(transfer: Transfer): Promise<() => void> {
    const { closed, mayWait = true } = transfer
    if (closed.aborted) return Promise.reject(closed.reason as Error)
    if (this.#hasRoom(transfer)) return Promise.resolve(this.#start(transfer))
    if (!mayWait) return Promise.reject(createBusyError(this.#options.setting))
    const { promise, resolve, reject } = Promise.withResolvers<() => void>()
    const waiting: WaitingTransfer = {
      transfer,
      since: performance.now(),
      start: () => resolve(this.#start(transfer)),
      reject,
    }
    const leave = () => {
      this.#waiting.delete(waiting)
      reject(closed.reason)
    }
    this.#waiting.add(waiting)
    closed.addEventListener('abort', leave, { once: true })
    return promise.finally(() => closed.removeEventListener('abort', leave))
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #start(transfer: Transfer): () => void {
    const running = { transfer, since: performance.now(), bytes: transfer.countBytes() }
    this.#running.add(running)
    return () => this.#release(running)
  }

  #release(running: RunningTransfer): void {
    if (!this.#running.delete(running)) return
    for (const waiting of this.#waiting) {
      if (!this.#hasRoom(waiting.transfer)) continue
      this.#waiting.delete(waiting)
      waiting.start()
    }
  }

  #hasRoom({ caller }: Transfer): boolean {
    const { slots } = this.#options
    if (this.#running.size >= slots) return false
    const ofCaller = [...this.#running].filter(({ transfer }) => transfer.caller === caller).length
    return ofCaller < Math.ceil(slots * CALLER_SHARE)
  }

  #check(): void {
    const now = performance.now()
    const late = Math.max(0, now - this.#checkedAt - 2 * this.#checkMs) // this process was busy, so its clients are not slow
    this.#checkedAt = now
    for (const waiting of this.#waiting) {
      waiting.since += late
      if (now - waiting.since < this.#options.waitMs) continue
      this.#waiting.delete(waiting)
      waiting.reject(createBusyError(this.#options.setting))
    }
    for (const running of this.#running) {
      running.since += late
      const { transfer, since, bytes } = running
      const elapsed = now - since
      if (!transfer.isIdle()) {
        if (elapsed < this.#options.slowMs * WINDOW_FACTOR) continue
        const isSlow = transfer.countBytes() - bytes < (MIN_BYTES_PER_S * elapsed) / 1000
        if (isSlow && this.#isInTheWay(transfer)) {
          this.#options.onSlow?.()
          transfer.drop()
          this.#release(running)
          continue
        }
      }
      Object.assign(running, { since: now, bytes: transfer.countBytes() })
    }
  }

  /** Whether a transfer waits that could have this slot. */
  #isInTheWay({ caller }: Transfer): boolean {
    if (this.#running.size >= this.#options.slots) return this.#waiting.size > 0
    return [...this.#waiting].some(({ transfer }) => transfer.caller === caller)
  }
}

function createBusyError(setting: string): ServiceError {
  return new ServiceError(
    'server_busy',
    `Other large requests and replies are in progress, as many as this process handles at once (${setting}). Retry.`,
  )
}
