/**
 * One connection of the load generator: one request in flight, the next as soon as it is answered or after a pause. If there is
 * nothing to send, it waits until it is asked again.
 */
import { connect, type Socket } from 'node:net'

const RECONNECT_DELAY_MS = 50
const END_OF_HEAD = '\r\n\r\n'

interface SendableRequest {
  /** A request in pieces, sent one upon another. */
  pieces: Buffer[]
  /** When it should be sent. Its latency counts from then, however late a connection is free for it. */
  plannedAt?: number
}

export class LoadConnection<Sent extends SendableRequest> {
  readonly #port: number
  readonly #timeoutMs: number
  readonly #pauseMs: number
  readonly #onResponse: (sent: Sent, status: number | string, body: Buffer, ms: number) => void
  readonly #takeRequest: () => Sent | undefined
  #socket: Socket | undefined
  #inFlight: Sent | undefined
  #sentAt = 0
  #parts: Buffer[] = []
  #length = 0
  /** Bytes of the whole answer; 0 until its head is there. */
  #expectedLength = 0
  #headEnd = 0
  #status = 0
  /** The server ends the connection with this answer. */
  #closesAfterResponse = false
  #closed = false
  #connected = false

  constructor(
    { port, timeoutMs, pauseMs }: { port: number; timeoutMs: number; pauseMs: number },
    heard: (sent: Sent, status: number | string, body: Buffer, ms: number) => void,
    take: () => Sent | undefined,
  ) {
    this.#port = port
    this.#timeoutMs = timeoutMs
    this.#pauseMs = pauseMs
    this.#onResponse = heard
    this.#takeRequest = take
    this.#open()
  }

  close(): void {
    this.#closed = true
    this.#socket?.destroy()
  }

  /** Sends a request if none is in flight. */
  sendIfIdle(): void {
    if (this.#connected && !this.#inFlight) this.#send()
  }

  #open(): void {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
    this.#socket = socket
    socket.setTimeout(this.#timeoutMs, () => socket.destroy(new Error('timeout')))
    socket.once('connect', () => {
      this.#connected = true
      this.#scheduleNext()
    })
    socket.on('data', (chunk) => this.#receive(chunk))
    let why = 'closed'
    socket.once('error', (error: NodeJS.ErrnoException) => {
      why = error.code ?? error.message
    })
    socket.once('close', () => {
      this.#connected = false
      if (this.#closed) return
      if (this.#inFlight) this.#finish(why)
      setTimeout(() => this.#closed || this.#open(), RECONNECT_DELAY_MS)
    })
  }

  #send(): void {
    if (this.#closed) return
    this.#inFlight = this.#takeRequest()
    if (!this.#inFlight) return
    this.#sentAt = this.#inFlight.plannedAt ?? performance.now()
    this.#socket?.cork()
    for (const piece of this.#inFlight.pieces) this.#socket?.write(piece)
    this.#socket?.uncork()
  }

  #receive(chunk: Buffer): void {
    this.#parts.push(chunk)
    this.#length += chunk.length
    if (this.#expectedLength === 0) this.#readHead()
    if (this.#expectedLength === 0 || this.#length < this.#expectedLength) return
    const last = this.#closesAfterResponse
    this.#finish(this.#status)
    if (last) this.#socket?.destroy()
    else this.#scheduleNext()
  }

  /** Pauses differ by up to their mean, so that connections do not march in step. */
  #scheduleNext(): void {
    if (this.#pauseMs === 0) this.#send()
    else setTimeout(() => this.#send(), 2 * Math.random() * this.#pauseMs)
  }

  #readHead(): void {
    const all = Buffer.concat(this.#parts)
    this.#parts = [all]
    const end = all.indexOf(END_OF_HEAD)
    if (end < 0) return
    const head = all.toString('latin1', 0, end)
    this.#status = Number(head.slice(9, 12))
    this.#headEnd = end + END_OF_HEAD.length
    this.#closesAfterResponse = /\r\nconnection: *close/i.test(head)
    this.#expectedLength = this.#headEnd + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
  }

  #finish(status: number | string): void {
    const sent = this.#inFlight
    const body = Buffer.concat(this.#parts).subarray(this.#headEnd)
    this.#parts = []
    this.#length = this.#expectedLength = this.#headEnd = 0
    this.#inFlight = undefined
    if (sent) this.#onResponse(sent, status, body, performance.now() - this.#sentAt)
  }
}
