/** Every request has an id: the caller's, if it sends a plain one in X-Request-Id, else one of ours; the answer repeats it. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'

const PLAIN = /^[\w.:/+=-]{1,128}$/
/** Of this process: no two ever have the same. */
const OURS = randomUUID()
let made = 0

export function requestId({ headers }: IncomingMessage): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && PLAIN.test(given) ? given : ownId()
}

/** For what has no readable headers. */
export function ownId(): string {
  return `${OURS}-${++made}`
}

export function addRequestIds(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
}
