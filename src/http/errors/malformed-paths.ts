/**
 * Handles paths with invalid percent-encoding. Fastify finds no route for them and would respond without running any hooks.
 * They are rerouted to a path that does not exist and rejected there, with request ID, headers and rate limits.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FastifyInstance } from 'fastify'
import fastifyPlugin from 'fastify-plugin'

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
