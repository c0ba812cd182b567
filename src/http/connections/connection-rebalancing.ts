/**
 * Sends connections away, once each, so that their clients open others, which may be taken by any process of the port: the
 * next answer on each says that it is the last.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { enableLingeringClose } from './lingering-close.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Sends away the connections that are open now. Those on which a client asks more before it is answered stay: what it
     * has asked would be lost.
     */
    rebalanceConnections: () => void
  }
}

export function addConnectionRebalancing(app: FastifyInstance, open: ReadonlySet<Socket>): void {
  let leaving = new WeakSet<Socket>()
  const last = new WeakMap<Socket, ServerResponse>()
  app.decorate('rebalanceConnections', () => {
    leaving = new WeakSet(open)
  })
  // Before Fastify's, which may have answered already.
  app.server.prependListener('request', ({ socket }, answer) => {
    const leaves = leaving.delete(socket)
    const before = last.get(socket)
    if (before && !before.writableEnded) stay(socket, before)
    else if (leaves) last.set(socket, answer)
  })
  app.addHook('onRequest', ({ raw: request }, { raw: answer }, done) => {
    const { socket } = request
    if (last.get(socket) !== answer) return done()
    // In the next turn all is read that was sent together with it.
    setImmediate(() => {
      if (last.get(socket) === answer) {
        answer.setHeader('connection', 'close')
        enableLingeringClose(request)
      }
      done()
    })
  })

  function stay(socket: Socket, answer: ServerResponse): void {
    last.delete(socket)
    if (!answer.headersSent) answer.removeHeader('connection')
  }
}
