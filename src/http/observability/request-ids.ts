/** Every request has an id: the caller's, if it sends a plain one in X-Request-Id, else one of ours; the answer repeats it. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import fastifyPlugin from 'fastify-plugin'

const REQUEST_ID_PATTERN = /^[\w.:/+=-]{1,128}$/
/** Of this process: no two ever have the same. */
const PROCESS_UUID = randomUUID()
let createdCount = 0

export function getOrCreateRequestId({ headers }: IncomingMessage): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID_PATTERN.test(given) ? given : createRequestId()
}

/** For what has no readable headers. */
export function createRequestId(): string {
  return `${PROCESS_UUID}-${++createdCount}`
}

export const requestIds = fastifyPlugin(
  async (app) => {
    app.addHook('onRequest', (request, reply, done) => {
      reply.header('x-request-id', request.id)
      done()
    })
  },
  { name: 'request-ids' },
)
