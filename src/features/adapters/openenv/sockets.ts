/**
 * Tracks the open sockets of one process. Limits their number and idle time, and closes all of them with the server.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { CLOSE_CODES, type OpenEnvSocket } from './socket.ts'

const SWEEP_INTERVAL_MS = 1000
/** How long a shutdown waits for responses in flight, and for clients to answer the close. */
const FINISH_MS = 5000
const CLOSE_MS = 2000
const CHECK_INTERVAL_MS = 20
const SHUTDOWN_REASON = 'The server is shutting down'

interface SocketLimits {
  /** Limit on open sockets. */
  maxSockets: number
  idleMs: number
  /** Limit on the bytes of incomplete messages, over all sockets. */
  maxUnfinishedBytes: number
}

export class OpenEnvSockets {
  readonly #limits: SocketLimits
  readonly #open = new Set<OpenEnvSocket>()
  readonly #timer: NodeJS.Timeout
  #isClosing = false

  constructor(limits: SocketLimits) {
    this.#limits = limits
    this.#timer = setInterval(() => this.sweep(), SWEEP_INTERVAL_MS).unref()
  }

  get size(): number {
    return this.#open.size
  }

  get max(): number {
    return this.#limits.maxSockets
  }

  add(socket: OpenEnvSocket): void {
    this.#open.add(socket)
    if (this.#isClosing) socket.close(CLOSE_CODES.goingAway, SHUTDOWN_REASON)
  }

  delete(socket: OpenEnvSocket): void {
    this.#open.delete(socket)
  }

  sweep(): void {
    const { idleMs, maxUnfinishedBytes } = this.#limits
    let unfinishedBytes = 0
    for (const socket of this.#open) {
      if (socket.idleMs > idleMs) {
        if (!socket.close(CLOSE_CODES.goingAway, 'The connection was idle for too long')) socket.terminate()
      }
      unfinishedBytes += socket.unfinishedBytes
    }
    if (unfinishedBytes > maxUnfinishedBytes) this.#dropLargest(unfinishedBytes - maxUnfinishedBytes)
  }

  /** Lets each socket finish its requests in flight, then closes it. */
  async close(): Promise<void> {
    this.#isClosing = true
    clearInterval(this.#timer)
    const sockets = [...this.#open]
    const finished = sockets.map((socket) => socket.finish(CLOSE_CODES.goingAway, SHUTDOWN_REASON))
    await Promise.race([Promise.all(finished), sleep(FINISH_MS, undefined, { ref: false })])
    const end = performance.now() + CLOSE_MS
    while (this.#open.size > 0 && performance.now() < end) await sleep(CHECK_INTERVAL_MS)
    for (const socket of this.#open) socket.terminate()
  }

  /** Closes the clients with the most bytes of an incomplete message, to free their memory. */
  #dropLargest(excessBytes: number): void {
    let excess = excessBytes
    for (const socket of [...this.#open].toSorted((a, b) => b.unfinishedBytes - a.unfinishedBytes)) {
      if (excess <= 0) return
      excess -= socket.unfinishedBytes
      socket.terminate()
    }
  }
}
