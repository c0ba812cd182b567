/**
 * Answers malformed requests like any other, with request ID, headers, rate limits and a problem document: Node and Fastify
 * would reject them by themselves, without running any hooks.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FastifyInstance } from 'fastify'
import fastifyPlugin from 'fastify-plugin'

/** Options of the HTTP server, which would otherwise reject a request without Host. */
export const PERMISSIVE_HTTP_OPTIONS = { requireHostHeader: false }

/** Requests without Host, or with an unknown Expect. */
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

/**
 * Paths with invalid percent-encoding. Fastify finds no route for them, so they are rerouted to a path that does not exist and
 * rejected there.
 */
export const malformedPaths = fastifyPlugin(
  async (app) => {
    app.addHook('onRequest', ({ raw }, _reply, done) => {
      const path = MALFORMED_PATHS.get(raw)
      if (path === undefined) return done()
      done(
        new ServiceError(
          'invalid_request',
          `The path ${path.slice(0, MAX_SHOWN_CHARS)} is not valid percent-encoded UTF-8. Encode each part of it.`,
        ),
      )
    })
  },
  { name: 'malformed-paths', dependencies: ['rate-limit'] },
)
