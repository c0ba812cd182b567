/** Clients open connections ahead of need. When the server closes, those on which nothing was asked are cut: Node waits for them. */
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

export function cutSilentConnections(app: FastifyInstance): void {
  const silent = new Set<Socket>()
  app.server.on('connection', (socket) => {
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
  })
  app.server.on('request', ({ socket }) => silent.delete(socket))
  app.addHook('preClose', (done) => {
    for (const socket of silent) socket.destroy()
    done()
  })
}
