/** One connection of the load generator: one request in flight, the next as soon as it is answered or after a pause. */
import { connect, type Socket } from 'node:net'

const AGAIN_MS = 50
const END_OF_HEAD = '\r\n\r\n'

interface Sendable {
  /** A request in pieces, sent one upon another. */
  pieces: Buffer[]
}

export class Lane<Sent extends Sendable> {
  readonly #port: number
  readonly #timeoutMs: number
  readonly #pauseMs: number
  readonly #heard: (sent: Sent, status: number | string, body: Buffer, ms: number) => void
  readonly #take: () => Sent | undefined
  #socket: Socket | undefined
  #sent: Sent | undefined
  #sentAt = 0
  #parts: Buffer[] = []
  #length = 0
  /** Bytes of the whole answer; 0 until its head is there. */
  #wanted = 0
  #headEnd = 0
  #status = 0
  /** The server ends the connection with this answer. */
  #last = false
  #closed = false

  constructor(
    { port, timeoutMs, pauseMs }: { port: number; timeoutMs: number; pauseMs: number },
    heard: (sent: Sent, status: number | string, body: Buffer, ms: number) => void,
    take: () => Sent | undefined,
  ) {
    this.#port = port
    this.#timeoutMs = timeoutMs
    this.#pauseMs = pauseMs
    this.#heard = heard
    this.#take = take
    this.#open()
  }

  close(): void {
    this.#closed = true
    this.#socket?.destroy()
  }

  #open(): void {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
    this.#socket = socket
    socket.setTimeout(this.#timeoutMs, () => socket.destroy(new Error('timeout')))
    socket.once('connect', () => this.#next())
    socket.on('data', (chunk) => this.#receive(chunk))
    let why = 'closed'
    socket.once('error', (error: NodeJS.ErrnoException) => {
      why = error.code ?? error.message
    })
    socket.once('close', () => {
      if (this.#closed) return
      if (this.#sent) this.#done(why)
      setTimeout(() => this.#closed || this.#open(), AGAIN_MS)
    })
  }

  #send(): void {
    if (this.#closed) return
    this.#sent = this.#take()
    if (!this.#sent) return
    this.#sentAt = performance.now()
    this.#socket?.cork()
    for (const piece of this.#sent.pieces) this.#socket?.write(piece)
    this.#socket?.uncork()
  }

  #receive(chunk: Buffer): void {
    this.#parts.push(chunk)
    this.#length += chunk.length
    if (this.#wanted === 0) this.#readHead()
    if (this.#wanted === 0 || this.#length < this.#wanted) return
    const last = this.#last
    this.#done(this.#status)
    if (last) this.#socket?.destroy()
    else this.#next()
  }

  /** Pauses differ by up to their mean, so that connections do not march in step. */
  #next(): void {
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
    this.#last = /\r\nconnection: *close/i.test(head)
    this.#wanted = this.#headEnd + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
  }

  #done(status: number | string): void {
    const sent = this.#sent
    const body = Buffer.concat(this.#parts).subarray(this.#headEnd)
    this.#parts = []
    this.#length = this.#wanted = this.#headEnd = 0
    this.#sent = undefined
    if (sent) this.#heard(sent, status, body, performance.now() - this.#sentAt)
  }
}
