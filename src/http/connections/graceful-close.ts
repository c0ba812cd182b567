/**
 * The connections of a server, and their end. Clients open them ahead of need and keep them: when the server closes, those
 * on which nothing was asked are cut, and each other as soon as it has its answer. Node would wait until they go.
 */
import type { Server, Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { addConnectionRebalancing } from './connection-rebalancing.ts'

const IDLE_CHECK_INTERVAL_MS = 20
/** What clients sent before the close may be under way. */
const LATE_REQUEST_GRACE_MS = 100
/** Or be there, on connections that a busy process has not taken yet: it goes on until there are none, so long at most. */
const MAX_ACCEPT_DRAIN_MS = 2000

declare module 'fastify' {
  interface FastifyInstance {
    /** Further sockets of the port, which pass on their connections; they are closed with the server. */
    extraListeners: Set<Server>
  }
}

export function addConnectionManagement(app: FastifyInstance): void {
  const open = new Set<Socket>()
  const extraListeners = new Set<Server>()
  let taken = 0
  app.decorate('extraListeners', extraListeners)
  app.server.on('connection', (socket) => {
    taken++
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  addConnectionRebalancing(app, open)
  app.addHook('preClose', async () => {
    await lastArrivals()
    for (const listener of extraListeners) listener.close()
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
    void cutIdle()
  })
  // The server waits for connections of its own socket; these are all.
  app.addHook('onClose', cutIdle)

  /** A turn of the event loop takes one connection for each listener, and reads in the next what came on it. */
  async function lastArrivals(): Promise<void> {
    await sleep(LATE_REQUEST_GRACE_MS)
    const until = performance.now() + MAX_ACCEPT_DRAIN_MS
    for (let before = -1; before !== taken && performance.now() < until; ) {
      before = taken
      await nextTurn()
    }
    await nextTurn()
  }

  async function cutIdle(): Promise<void> {
    while (open.size > 0) {
      app.server.closeIdleConnections()
      for (const socket of open) if (socket.writableFinished) socket.destroy() // answered, and still sending what is not wanted
      await sleep(IDLE_CHECK_INTERVAL_MS)
    }
  }
}
