/** Handles requests that Node would reject with an empty response: without Host, or with an unknown Expect. */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import fastifyPlugin from 'fastify-plugin'

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
