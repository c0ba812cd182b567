/**
 * Paths whose percent-encoding cannot be read. No route is found for them, so Fastify would answer past all hooks; they are
 * sent to where there is nothing instead, and refused on the way like any other request: with its id, headers and limits.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Fault } from '../faults.ts'

const NOWHERE = '/%25'
const SHOWN_CHARS = 200

/** Paths of requests that are on that way. */
const PATHS = new WeakMap<IncomingMessage, string>()

/** For Fastify's `frameworkErrors`. */
export function sendNowhere(app: FastifyInstance, request: IncomingMessage, response: ServerResponse): void {
  PATHS.set(request, request.url?.split('?')[0] ?? '')
  request.url = NOWHERE
  app.routing(request, response)
}

export function addUnreadablePaths(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const path = PATHS.get(raw)
    if (path === undefined) return done()
    done(new Fault('invalid_request', `This is no path in percent-encoded UTF-8: ${path.slice(0, SHOWN_CHARS)}`))
  })
}
