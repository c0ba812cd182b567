/**
 * Paths whose percent-encoding cannot be read. No route is found for them, so Fastify would answer past all hooks; they are
 * sent to where there is nothing instead, and refused on the way like any other request: with its id, headers and limits.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { ServiceError } from '../../contract/errors.ts'

const UNMATCHED_PATH = '/%25'
const MAX_SHOWN_CHARS = 200

/** Paths of requests that are on that way. */
const MALFORMED_PATHS = new WeakMap<IncomingMessage, string>()

/** For Fastify's `frameworkErrors`. */
export function rerouteMalformedPath(app: FastifyInstance, request: IncomingMessage, response: ServerResponse): void {
  MALFORMED_PATHS.set(request, request.url?.split('?')[0] ?? '')
  request.url = UNMATCHED_PATH
  app.routing(request, response)
}

export const malformedPaths = fastifyPlugin(
  async (app) => {
    app.addHook('onRequest', ({ raw }, _reply, done) => {
      const path = MALFORMED_PATHS.get(raw)
      if (path === undefined) return done()
      done(
        new ServiceError(
          'invalid_request',
          `This is no path in percent-encoded UTF-8: ${path.slice(0, MAX_SHOWN_CHARS)}`,
        ),
      )
    })
  },
  { name: 'malformed-paths', dependencies: ['rate-limit'] },
)
