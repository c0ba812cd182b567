/** Listens for connections, and takes many at a time. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { App } from '../../../routes/context.ts'

/**
 * Connections that the kernel keeps until they are taken: as many as it allows (`net.core.somaxconn`). Of more it drops the
 * last step, so that a client thinks itself connected and sends into the void, again after a second, two, four.
 */
const LISTEN_BACKLOG = 65_535

/**
 * libuv takes one connection of a listening socket in a turn of the event loop, and the turns of a busy process are long:
 * two thousand clients that connect to it at once would wait for a minute. Each process has as many sockets for the port.
 */
const LISTENERS_PER_PROCESS = 64

/** What `npm start` tells an API process when another has joined: it has none of the connections opened before. */
export const REBALANCE_MESSAGE = 'rebalance-connections'

/** Only Linux spreads connections over several sockets of a port, of one process or of several. */
const SUPPORTS_REUSE_PORT = process.platform === 'linux'

/** Resolves once all take connections. */
export async function listen(app: App, address: { host: string; port: number }): Promise<void> {
  const options = { ...address, backlog: LISTEN_BACKLOG, ...(SUPPORTS_REUSE_PORT && { reusePort: true }) }
  await app.listen(options)
  if (!SUPPORTS_REUSE_PORT) return
  const pass = (socket: Socket) => app.server.emit('connection', socket)
  await Promise.all(
    Array.from({ length: LISTENERS_PER_PROCESS - 1 }, async () => {
      const listener = createServer({ allowHalfOpen: true, noDelay: true }, pass) // as http.Server opens its own
      app.extraListeners.add(listener)
      listener.listen({ ...options, port: (app.server.address() as AddressInfo).port }) // it listens on a port
      await once(listener, 'listening')
    }),
  )
}
