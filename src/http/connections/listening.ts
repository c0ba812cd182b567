/**
 * When the server starts and stops to listen. As it closes, it ends the open connections: clients open connections in advance
 * and keep them alive, so connections that never sent a byte are closed at once, all others after their response. Node alone
 * would wait for the clients to disconnect.
 */

import type { Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import fastifyPlugin from 'fastify-plugin'
import type { App } from '../app.ts'

const IDLE_CHECK_INTERVAL_MS = 20
/** Time for requests that clients sent before the close and that have not arrived yet. */
const LATE_REQUEST_GRACE_MS = 100
/** Upper bound on accepting connections that the kernel queued before the close. */
const MAX_ACCEPT_DRAIN_MS = 2000

export const gracefulClose = fastifyPlugin(
  async (app) => {
    const openSockets = new Set<Socket>()
    let acceptedCount = 0
    app.server.on('connection', (socket) => {
      acceptedCount++
      openSockets.add(socket)
      socket.once('close', () => openSockets.delete(socket))
    })
    app.addHook('preClose', async () => {
      await drainAcceptQueue()
      for (const socket of openSockets) if (socket.bytesRead === 0) socket.destroy()
      void closeIdleConnections()
    })
    app.addHook('onClose', closeIdleConnections)

    /** libuv accepts one connection per turn of the event loop and reads from it in the next. */
    async function drainAcceptQueue(): Promise<void> {
      await sleep(LATE_REQUEST_GRACE_MS)
      const deadline = performance.now() + MAX_ACCEPT_DRAIN_MS
      for (let before = -1; before !== acceptedCount && performance.now() < deadline; ) {
        before = acceptedCount
        await nextTurn()
      }
      await nextTurn()
    }

    async function closeIdleConnections(): Promise<void> {
      while (openSockets.size > 0) {
        app.server.closeIdleConnections()
        for (const socket of openSockets) if (socket.writableFinished) socket.destroy() // answered, but still sending a rejected body
        await sleep(IDLE_CHECK_INTERVAL_MS)
      }
    }
  },
  { name: 'graceful-close' },
)

/**
 * Length of the kernel's accept queue, capped by `net.core.somaxconn`. The default of 511 is too short for a thousand clients
 * that connect at once: the kernel then drops handshakes, and those clients retry after one, two, four seconds.
 */
const LISTEN_BACKLOG = 65_535

/** Only Linux distributes the connections of a port over several processes. */
const SUPPORTS_REUSE_PORT = process.platform === 'linux'

export async function listen(app: App, address: { host: string; port: number }): Promise<void> {
  await app.listen({ ...address, backlog: LISTEN_BACKLOG, ...(SUPPORTS_REUSE_PORT && { reusePort: true }) })
}
