/**
 * Handles requests that Node or Fastify would answer on their own, without running any hooks: those without Host or with an
 * unknown Expect, and paths with invalid percent-encoding. Such a path is rerouted to one that does not exist and rejected
 * there, with request ID, headers and rate limits.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { ServiceError } from '../../contract/errors.ts'

const UNMATCHED_PATH = '/%25'
const MAX_SHOWN_CHARS = 200

/** Original paths of rerouted requests. */
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
          `The path is not valid percent-encoded UTF-8: ${path.slice(0, MAX_SHOWN_CHARS)}`,
        ),
      )
    })
  },
  { name: 'malformed-paths', dependencies: ['rate-limit'] },
)

/** Options of the HTTP server. */
export const PERMISSIVE_HTTP_OPTIONS = { requireHostHeader: false }

export const hostAndExpect = fastifyPlugin(
  async (app) => {
    app.addHook('onRequest', ({ raw }, _reply, done) => {
      const lacksHost = raw.headers.host === undefined && raw.httpVersion === '1.1'
      done(
        lacksHost
          ? new ServiceError('invalid_request', 'The Host header is missing. HTTP/1.1 requires it.')
          : undefined,
      )
    })
    // RFC 9110, 10.1.1: expectations other than 100-continue may be ignored.
    app.server.on('checkExpectation', (request, response) => app.routing(request, response))
  },
  { name: 'host-and-expect', dependencies: ['request-ids', 'security-headers'] },
)
