/** Gives every request an ID: the caller's X-Request-Id if it is plain text, else a new one. The response repeats it. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import fastifyPlugin from 'fastify-plugin'

const REQUEST_ID_PATTERN = /^[\w.:/+=-]{1,128}$/
/** Prefix of this process, unique in the fleet. */
const PROCESS_UUID = randomUUID()
let createdCount = 0

export function getOrCreateRequestId({ headers }: IncomingMessage): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID_PATTERN.test(given) ? given : createRequestId()
}

/** For requests without readable headers. */
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
