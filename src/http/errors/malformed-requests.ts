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

/** Requests without Host or with several, which a proxy may read in another way, or with an unknown Expect. */
export const hostAndExpect = fastifyPlugin(
  async (app) => {
    app.addHook('onRequest', ({ raw }, _reply, done) => {
      const hosts = countHosts(raw.rawHeaders)
      const isWrong = hosts > 1 || (hosts === 0 && raw.httpVersion === '1.1')
      const detail = `The request has ${hosts} Host headers. Send exactly one.`
      done(isWrong ? new ServiceError('invalid_request', detail) : undefined)
    })
    // RFC 9110, 10.1.1: expectations other than 100-continue may be ignored.
    app.server.on('checkExpectation', (request, response) => app.routing(request, response))
  },
  { name: 'host-and-expect', dependencies: ['request-ids', 'security-headers'] },
)

/** Names and values alternate. */
function countHosts(rawHeaders: string[]): number {
  let count = 0
  for (let k = 0; k < rawHeaders.length; k += 2)
    if (rawHeaders[k]?.length === 4 && rawHeaders[k]?.toLowerCase() === 'host') count++
  return count
}

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
