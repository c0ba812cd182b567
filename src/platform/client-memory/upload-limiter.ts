/**
 * Limits how many bytes of large request bodies a process holds: those that have arrived, not those that were announced.
 * A body requests memory for each chunk that it has read; while it waits, its connection is not read.
 *
 * Bodies that each hold a part of the memory could wait for each other forever. So:
 * - Memory goes to the oldest body first. If all bodies that hold memory wait, too, one waiting body is favored: it alone may
 *   exceed the limit, by its own size, until it is released. Then the next one is favored.
 * - A slow body is dropped: one that arrives at less than 8 KiB per second for `slowMs` or, while others wait for its memory,
 *   at less than 64 KiB per second for a third of that.
 * - A body that gets no memory for `waitMs` is rejected with `server_busy` and releases what it holds.
 * - A caller gets at most three quarters of the memory, so that a slow caller leaves memory for others.
 */
import { ServiceError } from '@reasoning-gym-server/contract/errors'

interface UploadLimiterOptions {
  limitBytes: number
  waitMs: number
  slowMs: number
  /** Called for each body that is dropped for being slow. */
  onSlow?: () => void
  clock?: () => number
}

const MIN_BYTES_PER_S = 8 * 1024
const CONTESTED_MIN_BYTES_PER_S = 64 * 1024
const CONTESTED_SLOW_FACTOR = 1 / 3
const CALLER_SHARE = 0.75

type OnRefused = (error: ServiceError) => void

export interface ArrivingBody {
  /** Requests memory for bytes that have arrived. If it returns false, stop reading until `onGranted` is called. */
  take(bytes: number, onGranted: () => void): boolean
  /** The body has arrived completely and is being handled. */
  complete(): void
  release(): void
}

interface Body {
  caller: string
  state: 'arriving' | 'waiting' | 'complete' | 'released'
  heldBytes: number
  wantedBytes: number
  onGranted: (() => void) | undefined
  onRefused: OnRefused
  waitsSince: number
  /** Bytes that have arrived, and since when, without the time spent waiting. */
  arrivesSince: number
  arrivedBytes: number
}

export class UploadLimiter {
  readonly #options: UploadLimiterOptions
  readonly #clock: () => number
  readonly #checkMs: number
  readonly #timer: NodeJS.Timeout
  /** Oldest first. */
  readonly #bodies = new Set<Body>()
  #heldBytes = 0
  /** Kept as sums: bodies request memory for each chunk, and a thousand of one caller may wait. */
  readonly #heldByCaller = new Map<string, number>()
  #waitingCount = 0
  #favored: Body | undefined
  #checkedAt: number

  constructor(options: UploadLimiterOptions) {
    this.#options = options
    this.#clock = options.clock ?? (() => performance.now())
    this.#checkedAt = this.#clock()
    this.#checkMs = Math.min(1000, options.slowMs / 4)
    this.#timer = setInterval(() => this.check(), this.#checkMs).unref()
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  get limitBytes(): number {
    return this.#options.limitBytes
  }

  /** `onRefused` is called at most once, while the body arrives or waits; its memory is released then. */
  open(caller: string, onRefused: OnRefused): ArrivingBody {
    const body: Body = {
      caller,
      state: 'arriving',
      heldBytes: 0,
      wantedBytes: 0,
      onGranted: undefined,
      onRefused,
      waitsSince: 0,
      arrivesSince: this.#clock(),
      arrivedBytes: 0,
    }
    this.#bodies.add(body)
    return {
      take: (bytes, onGranted) => this.#take(body, bytes, onGranted),
      complete: () => this.#complete(body),
      release: () => this.#release(body),
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** Rejects bodies that are slow or have waited too long. */
  check(): void {
    const now = this.#clock()
    const late = Math.max(0, now - this.#checkedAt - 2 * this.#checkMs) // this process was busy, so its clients are not slow
    this.#checkedAt = now
    const { waitMs, slowMs } = this.#options
    const isInTheWay = this.#findContention()
    for (const body of this.#bodies) {
      body.arrivesSince += late
      if (body.state === 'waiting' && now - body.waitsSince >= waitMs) this.#reject(body, createBusyError())
      const isContested = isInTheWay(body)
      const windowMs = isContested ? slowMs * CONTESTED_SLOW_FACTOR : slowMs
      const minBytesPerS = isContested ? CONTESTED_MIN_BYTES_PER_S : MIN_BYTES_PER_S
      const elapsed = now - body.arrivesSince
      if (body.state !== 'arriving' || elapsed < windowMs) continue
      if (body.arrivedBytes < (minBytesPerS * elapsed) / 1000) {
        this.#options.onSlow?.()
        this.#reject(body, createSlowError(minBytesPerS))
      } else this.#startWindow(body, now)
    }
  }

  /** Determines the bodies whose memory others wait for: all, or those of a caller that has used its share. */
  #findContention(): (body: Body) => boolean {
    if (this.#waitingCount === 0) return () => false
    const waiting = [...this.#bodies].filter(({ state }) => state === 'waiting')
    if (waiting.some((body) => !this.#fitsInAll(body))) return () => true
    const callers = new Set(waiting.map(({ caller }) => caller))
    return ({ caller }) => callers.has(caller)
  }

  #take(body: Body, bytes: number, onGranted: () => void): boolean {
    if (body.state === 'released') return true // it is already being rejected
    body.arrivedBytes += bytes
    body.wantedBytes = bytes
    body.state = 'waiting'
    body.waitsSince = this.#clock()
    this.#waitingCount++
    this.#grant()
    if (this.#isWaiting(body)) {
      body.onGranted = onGranted
      return false
    }
    return true
  }

  #isWaiting({ state }: Body): boolean {
    return state === 'waiting'
  }

  #complete(body: Body): void {
    if (body.state !== 'arriving') return
    body.state = 'complete'
  }

  #release(body: Body): void {
    if (body.state === 'released') return
    if (body.state === 'waiting') this.#waitingCount--
    body.state = 'released'
    this.#addHeldBytes(body, -body.heldBytes)
    this.#bodies.delete(body)
    if (this.#favored === body) this.#favored = undefined
    this.#grant()
  }

  #reject(body: Body, error: ServiceError): void {
    this.#release(body)
    body.onRefused(error)
  }

  #grant(): void {
    if (this.#favored?.state === 'waiting') this.#grantTo(this.#favored)
    if (this.#waitingCount === 0) return
    for (const body of this.#bodies) {
      if (body.state !== 'waiting') continue
      if (this.#fits(body)) this.#grantTo(body)
      else if (!this.#fitsInAll(body)) break // freed memory goes to the oldest body
    }
    if (this.#waitingCount === 0 || this.#favored) return
    this.#favored = this.#findFavored()
    if (this.#favored) this.#grantTo(this.#favored)
  }

  #grantTo(body: Body): void {
    const { onGranted, wantedBytes } = body
    this.#waitingCount--
    this.#addHeldBytes(body, wantedBytes)
    body.state = 'arriving'
    body.onGranted = undefined
    body.arrivesSince += this.#clock() - body.waitsSince
    onGranted?.()
  }

  #startWindow(body: Body, now: number): void {
    body.arrivesSince = now
    body.arrivedBytes = 0
  }

  #fits(body: Body): boolean {
    const heldByCaller = this.#heldByCaller.get(body.caller) ?? 0
    return this.#fitsInAll(body) && heldByCaller + body.wantedBytes <= this.#callerLimit
  }

  #fitsInAll({ wantedBytes }: Body): boolean {
    return this.#heldBytes + wantedBytes <= this.#options.limitBytes
  }

  get #callerLimit(): number {
    return this.#options.limitBytes * CALLER_SHARE
  }

  #addHeldBytes(body: Body, bytes: number): void {
    body.heldBytes += bytes
    this.#heldBytes += bytes
    const held = (this.#heldByCaller.get(body.caller) ?? 0) + bytes
    if (held === 0) this.#heldByCaller.delete(body.caller)
    else this.#heldByCaller.set(body.caller, held)
  }

  /** The oldest waiting body that only waiting bodies block. */
  #findFavored(): Body | undefined {
    const busy = [...this.#bodies].filter(({ state, heldBytes }) => state !== 'waiting' && heldBytes > 0)
    const busyCallers = new Set(busy.map(({ caller }) => caller))
    for (const body of this.#bodies) {
      if (body.state !== 'waiting' || this.#fits(body)) continue // bodies that fit wait for their turn
      if (this.#fitsInAll(body) ? !busyCallers.has(body.caller) : busy.length === 0) return body
    }
    return undefined
  }
}

function createBusyError(): ServiceError {
  return new ServiceError(
    'server_busy',
    'Other large requests use all memory reserved for request bodies (BODIES_MAX_BYTES). Send this request again.',
  )
}

function createSlowError(minBytesPerS: number): ServiceError {
  return new ServiceError(
    'request_timeout',
    `The body arrived at less than ${minBytesPerS / 1024} KiB per second. Send it faster, or in smaller requests.`,
  )
}
