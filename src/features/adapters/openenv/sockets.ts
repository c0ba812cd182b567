/**
 * The open WebSockets of OpenEnv clients in one process. Limits their number, also that of one key, and their idle time, and closes
 * all of them with the server.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { CLOSE_CODES, type OpenEnvSocket } from './socket.ts'

const SWEEP_INTERVAL_MS = 1000
/** How long a shutdown waits for responses in flight, and for clients to answer the close. */
const FINISH_MS = 5000
const CLOSE_MS = 2000
const CHECK_INTERVAL_MS = 20
/** Longer than most trainers take between two messages. */
export const OPENENV_ROOM_IDLE_MS = 10 * 60_000
/** No key takes more of the sockets. */
const MAX_SHARE_OF_KEY = 0.75
const SHUTDOWN_REASON = 'The server is shutting down'

interface SocketLimits {
  maxSockets: number
  idleMs: number
  /** If all sockets are taken, one that has been idle for this long makes room for another. */
  roomIdleMs: number
  /** Limit on the bytes of incomplete messages, over all sockets. */
  maxUnfinishedBytes: number
}

type TrackedSocket = Pick<OpenEnvSocket, 'keyId' | 'idleMs' | 'unfinishedBytes' | 'close' | 'finish' | 'terminate'>

/** Why a socket may not stay open. */
export interface CapacityRejection {
  message: string
  /** Number of sockets that the client may have. */
  max: number
}

export class OpenEnvSockets {
  readonly #limits: SocketLimits
  readonly #open = new Set<TrackedSocket>()
  readonly #timer: NodeJS.Timeout
  #isClosing = false

  constructor(limits: SocketLimits) {
    this.#limits = limits
    this.#timer = setInterval(() => this.sweep(), SWEEP_INTERVAL_MS).unref()
  }

  get size(): number {
    return this.#open.size
  }

  /** Returns undefined if the socket was added. */
  add(socket: TrackedSocket): CapacityRejection | undefined {
    const { maxSockets } = this.#limits
    const maxOfKey = Math.max(1, Math.floor(maxSockets * MAX_SHARE_OF_KEY))
    const sockets = [...this.#open]
    const ofKey = socket.keyId === undefined ? [] : sockets.filter(({ keyId }) => keyId === socket.keyId)
    if (ofKey.length >= maxOfKey && !this.#makeRoom(ofKey)) {
      const message = `This process serves ${maxOfKey} connections of one API key at most, of ${maxSockets} in all: OPENENV_MAX_SOCKETS`
      return { message, max: maxOfKey }
    }
    if (this.#open.size >= maxSockets && !this.#makeRoom(sockets))
      return { message: `This process serves ${maxSockets} connections at most: OPENENV_MAX_SOCKETS`, max: maxSockets }
    this.#open.add(socket)
    if (this.#isClosing) socket.close(CLOSE_CODES.goingAway, SHUTDOWN_REASON)
    return undefined
  }

  delete(socket: TrackedSocket): void {
    this.#open.delete(socket)
  }

  /** Closes the one that has been idle for longest. Returns false if none has been idle for long enough. */
  #makeRoom(sockets: TrackedSocket[]): boolean {
    const [longest] = sockets.toSorted((a, b) => b.idleMs - a.idleMs)
    if (!longest || longest.idleMs < this.#limits.roomIdleMs) return false
    longest.close(CLOSE_CODES.goingAway, 'Another client needs the place of this idle connection')
    this.#open.delete(longest)
    return true
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
