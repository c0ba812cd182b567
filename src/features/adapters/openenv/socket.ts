/**
 * The WebSocket of an OpenEnv client. Its messages are answered strictly in order, one at a time: work on the next starts
 * after the response is sent, and reading pauses while a second message waits. A client that does not read its
 * responses therefore holds at most one in memory, and a client that floods the server is slowed down by its own
 * connection.
 */

import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WebSocket } from '@fastify/websocket'
import type { Caller } from '@reasoning-gym-server/contract/caller'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FastifyBaseLogger } from 'fastify'
import { translateRedisError } from '../../../platform/redis/redis-errors.ts'
import { untilReplicated, type WriteConfirmation } from '../../../platform/redis/replication.ts'
import type { OpenEnvEnvironment, OpenEnvSession } from './environment.ts'
import { type ClientFrame, FrameRejection, formatFrame, parseFrame, type ServerFrame } from './wire.ts'

/**
 * One message in flight and one waiting. With only one, reading would pause, and a closed connection would go
 * unnoticed.
 */
const MAX_MESSAGES_READ = 2

/** Close codes of RFC 6455. */
export const CLOSE_CODES = {
  normal: 1000,
  goingAway: 1001,
  policyViolation: 1008,
  tooBig: 1009,
  tryAgainLater: 1013,
} as const

/** A client, and the run in the path of its URL. */
interface Client {
  caller: Caller
  run: string | undefined
}

interface OpenEnvSocketDeps {
  environment: OpenEnvEnvironment
  replication: WriteConfirmation
  log: FastifyBaseLogger
  /** Counts a message of this many bytes, or returns the seconds until the caller may send another. */
  consumeRate(bytes: number): number | undefined
}

export class OpenEnvSocket {
  /** ID of its API key; undefined on a server without keys. */
  readonly keyId: string | undefined
  readonly #socket: WebSocket
  readonly #connection: Socket
  readonly #session: OpenEnvSession
  readonly #deps: OpenEnvSocketDeps
  #queue: Promise<void> = Promise.resolve()
  #inHand = 0
  #isEnding = false
  #lastActiveMs = performance.now()
  #bytesBefore: number

  constructor(socket: WebSocket, connection: Socket, { caller, run }: Client, deps: OpenEnvSocketDeps) {
    this.keyId = caller.keyHint === undefined ? undefined : caller.id
    this.#socket = socket
    this.#connection = connection
    this.#session = { run, caller, isConnection: true, confirm: (work) => untilReplicated(deps.replication, work) }
    this.#deps = deps
    this.#bytesBefore = connection.bytesRead
    socket.on('message', (data) => this.#enqueue(toBuffer(data)))
  }

  /** Time since the last message arrived or its response was sent; 0 while one is in flight. */
  get idleMs(): number {
    return this.#inHand > 0 ? 0 : performance.now() - this.#lastActiveMs
  }

  /** Bytes of a message that has not arrived completely. */
  get unfinishedBytes(): number {
    return this.#inHand > 0 ? 0 : this.#connection.bytesRead - this.#bytesBefore
  }

  /** Returns false if the socket was already closing. */
  close(code: number, reason: string): boolean {
    const isFirst = !this.#isEnding
    this.#isEnding = true
    if (isFirst) this.#socket.close(code, reason)
    return isFirst
  }

  async finish(code: number, reason: string): Promise<void> {
    this.#isEnding = true
    await this.#queue
    this.#socket.close(code, reason) // a second call has no effect
  }

  terminate(): void {
    this.#socket.terminate()
  }

  #enqueue(bytes: Buffer): void {
    if (this.#isEnding) return
    this.#inHand++
    // messages that were read together with this one still arrive
    if (this.#inHand >= MAX_MESSAGES_READ) this.#socket.pause()
    this.#queue = this.#queue.then(() => this.#serve(bytes))
  }

  /** Never rejects. */
  async #serve(bytes: Buffer): Promise<void> {
    const answer = Promise.withResolvers<boolean>()
    try {
      if (this.#socket.readyState !== this.#socket.OPEN) return // the client has disconnected
      const frame = await this.#answer(bytes, answer.promise)
      if (frame) answer.resolve((await this.#send(frame)) && !isFailure(frame))
    } finally {
      answer.resolve(false)
      this.#inHand--
      this.#lastActiveMs = performance.now()
      this.#bytesBefore = this.#connection.bytesRead
      if (this.#inHand < MAX_MESSAGES_READ) this.#socket.resume()
    }
  }

  /** Returns undefined if the client has closed the connection. */
  async #answer(bytes: Buffer, delivery: Promise<boolean>): Promise<ServerFrame | undefined> {
    try {
      await this.#waitForRate(bytes.length)
      const frame = parseFrame(bytes)
      if (frame.type !== 'close') return await this.#perform(frame, delivery)
      this.close(CLOSE_CODES.normal, '')
      return undefined
    } catch (error) {
      return { type: 'error', data: this.#describe(error) }
    }
  }

  async #perform(frame: Exclude<ClientFrame, { type: 'close' }>, delivery: Promise<boolean>): Promise<ServerFrame> {
    const { environment } = this.#deps
    switch (frame.type) {
      case 'reset':
        return { type: 'observation', data: await environment.reset(this.#session, frame.data) }
      case 'step':
        return { type: 'observation', data: await environment.step(this.#session, frame.data, delivery) }
      case 'state':
        return { type: 'state', data: environment.getState(this.#session) }
    }
  }

  #describe(error: unknown): FrameRejection['data'] {
    if (error instanceof FrameRejection) return error.data
    const known = translateRedisError(error)
    if (known instanceof ServiceError && known.code !== 'internal')
      return { message: known.message, code: 'EXECUTION_ERROR', error: known.code }
    this.#deps.log.error({ err: error }, 'a message of an OpenEnv client could not be handled')
    return { message: 'The server failed. Its log has the reason.', code: 'EXECUTION_ERROR', error: 'internal' }
  }

  /** Delays a client that is over its rate limit instead of sending an error, which would end its episode. */
  async #waitForRate(bytes: number): Promise<void> {
    for (;;) {
      const seconds = this.#deps.consumeRate(bytes)
      if (seconds === undefined) return
      if (this.#isEnding || this.#socket.readyState !== this.#socket.OPEN)
        throw new FrameRejection('SESSION_ERROR', `This key has used up this minute; retry in ${seconds} s`)
      await sleep(Math.min(seconds, 1) * 1000)
    }
  }

  /** Returns true once the frame has been passed to the network on an open connection. */
  #send(frame: ServerFrame): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.#socket.readyState !== this.#socket.OPEN) return resolve(false)
      const onClose = () => resolve(false)
      this.#socket.once('close', onClose)
      this.#socket.send(formatFrame(frame), (error) => {
        this.#socket.off('close', onClose)
        resolve(!error)
      })
    })
  }
}

/** Whether the client has no result, and sends the message again. An unscored completion is a result. */
function isFailure(frame: ServerFrame): boolean {
  return frame.type === 'error' && frame.data.unscored === undefined
}

function toBuffer(data: Buffer | ArrayBuffer | Buffer[]): Buffer {
  if (Buffer.isBuffer(data)) return data
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)
}
