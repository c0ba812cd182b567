/** A client of OpenEnv's WebSocket for tests. */
import { once } from 'node:events'

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails where it is not there
export type Frame = any

/** A client that sends one message at a time, or several at once. */
export class SocketClient {
  readonly socket: WebSocket
  readonly #frames: Frame[] = []
  readonly #waiting: ((frame: Frame) => void)[] = []

  constructor(url: string, headers: Record<string, string> = {}) {
    this.socket = new WebSocket(url, { headers } as never) // an option of Node's WebSocket alone
    this.socket.addEventListener('message', ({ data }) => {
      const frame: Frame = JSON.parse(String(data))
      const next = this.#waiting.shift()
      if (next) next(frame)
      else this.#frames.push(frame)
    })
  }

  async open(): Promise<this> {
    await once(this.socket, 'open')
    return this
  }

  send(frame: unknown): void {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }

  receive(): Promise<Frame> {
    const frame = this.#frames.shift()
    return frame === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(frame)
  }

  ask(type: string, data?: unknown): Promise<Frame> {
    this.send({ type, ...(data !== undefined && { data }) })
    return this.receive()
  }

  async close(): Promise<CloseEvent> {
    const closed = once(this.socket, 'close')
    this.socket.close()
    return (await closed)[0]
  }
}
