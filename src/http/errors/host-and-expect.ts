/** What Node would refuse by itself, with an empty answer: a request without Host, or with an Expect that it does not know. */
import fastifyPlugin from 'fastify-plugin'
import { ServiceError } from '../../contract/errors.ts'

/** Options of the HTTP server. */
export const PERMISSIVE_HTTP_OPTIONS = { requireHostHeader: false }

export const hostAndExpect = fastifyPlugin(
  async (app) => {
    app.addHook('onRequest', ({ raw }, _reply, done) => {
      const lacksHost = raw.headers.host === undefined && raw.httpVersion === '1.1'
      done(lacksHost ? new ServiceError('invalid_request', 'HTTP/1.1 asks for a Host header') : undefined)
    })
    // RFC 9110, 10.1.1: what is expected beyond 100-continue may be passed over.
    app.server.on('checkExpectation', (request, response) => app.routing(request, response))
  },
  { name: 'host-and-expect', dependencies: ['request-ids', 'security-headers'] },
)
