/** Links of a simulated network: TCP connections through this process, which may be late, or held back as if cables were cut. */
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** `up` is from the client to the server. */
export type Direction = 'up' | 'down'

const POLL_INTERVAL_MS = 10

/** What its clients send to its port reaches the server on another one. */
export class Link {
  readonly name: string
  readonly #server: Server
  /** By which all that is sent is late. Infinity: nothing arrives, and nothing is lost. */
  readonly delayMs: Record<Direction, number> = { up: 0, down: 0 }

  constructor(name: string, targetPort: number) {
    this.name = name
    this.#server = createServer((client) => {
      const upstream = connect(targetPort, '127.0.0.1')
      for (const socket of [client, upstream]) socket.setNoDelay().on('error', () => {}) // #carry notices
      void this.#carry(client, upstream, 'up')
      void this.#carry(upstream, client, 'down')
    })
  }

  /** The port for its clients. */
  async listen(): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#server.listen(0, '127.0.0.1', resolve)
    await promise
    const address = this.#server.address()
    return typeof address === 'object' && address ? address.port : 0
  }

  close(): void {
    this.#server.close()
  }

  /** In order, until one of the two is gone; then the other one goes too. */
  async #carry(from: Socket, to: Socket, direction: Direction): Promise<void> {
    try {
      for await (const bytes of from) {
        const arrived = performance.now()
        while (performance.now() - arrived < this.delayMs[direction]) await sleep(POLL_INTERVAL_MS)
        to.write(bytes)
      }
      to.end()
    } catch {
      to.destroy()
    }
  }
}
