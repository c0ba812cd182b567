/**
 * The connections of a server, and their end. Clients open them ahead of need and keep them: when the server closes, those
 * on which nothing was asked are cut, and each other as soon as it has its answer. Node would wait until they go.
 */
import type { Server, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

const LOOK_EVERY_MS = 20
/** What clients sent before the close may not be read yet, nor their connections taken: so long both go on. */
const LAST_ARRIVALS_MS = 100

declare module 'fastify' {
  interface FastifyInstance {
    /** Further sockets of the port, which pass on their connections; they are closed with the server. */
    doors: Set<Server>
  }
}

export function addConnections(app: FastifyInstance): void {
  const open = new Set<Socket>()
  const doors = new Set<Server>()
  app.decorate('doors', doors)
  app.server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  app.addHook('preClose', async () => {
    await sleep(LAST_ARRIVALS_MS)
    for (const door of doors) door.close()
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
    void cutIdle()
  })
  // The server waits for connections of its own socket; these are all.
  app.addHook('onClose', cutIdle)

  async function cutIdle(): Promise<void> {
    while (open.size > 0) {
      app.server.closeIdleConnections()
      await sleep(LOOK_EVERY_MS)
    }
  }
}
