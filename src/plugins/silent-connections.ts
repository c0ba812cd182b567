/** Clients open connections ahead of need. When the server closes, those on which nothing was asked are cut: Node waits for them. */
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

export function cutSilentConnections(app: FastifyInstance): void {
  const open = new Set<Socket>()
  app.server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  app.addHook('preClose', (done) => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
    done()
  })
}
