/** Failures on the wire: every one becomes a problem document with a code from the table. */
import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify'
import { Fault } from '../faults.ts'
import { redisFault } from '../store/redis.ts'
import { Addresses } from './addresses.ts'
import { linger } from './lingering.ts'

export function addProblems(app: FastifyInstance): void {
  const addresses = new Addresses()
  app.addHook('onRoute', ({ method, url }) => addresses.add([method].flat(), url))
  // At once: what is wrong with a body does not matter where there is nobody to read it.
  app.addHook('onRequest', ({ is404, url, method }, _reply, done) =>
    done(is404 || addresses.isTakenOtherwise(url, method) ? addresses.faultAt(url, method) : undefined),
  )
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const fault = toFault(error)
    if (fault.status >= 500)
      request.log[fault.code === 'internal' ? 'error' : 'warn']({ err: fault.cause ?? error }, fault.message)
    if (fault.code === 'method_not_allowed') reply.header('allow', addresses.methodsAt(request.url).join(', '))
    keepConnection(reply)
    linger(request.raw)
    return reply
      .status(fault.status)
      .headers(retryHeader(fault))
      .type('application/problem+json')
      .send(JSON.stringify(fault.problem()))
  })
  app.setNotFoundHandler(({ url, method }) => {
    throw addresses.faultAt(url, method)
  })
}

/**
 * Fastify ends the connection where a body is refused: many clients that still send it would meet that, and not the answer.
 * Node reads the rest and throws it away, as long as a request may take. A server that closes ends its connections all the
 * same: it says so on the raw answer.
 */
function keepConnection(reply: FastifyReply): void {
  const closing = reply.raw.getHeader('connection')
  reply.removeHeader('connection')
  if (closing !== undefined) reply.raw.setHeader('connection', closing)
}

function retryHeader({ retryAfter }: Fault): Record<string, string> {
  return retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
}

function toFault(error: FastifyError): Fault {
  const known = redisFault(error)
  if (known instanceof Fault) return known
  if (/^(Z_|ZSTD_)/.test(error.code ?? '')) {
    return new Fault('invalid_request', `The body is not in its Content-Encoding: ${error.message}`, { cause: error })
  }
  switch (error.code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Fault('unsupported_media_type', 'Send application/json', { cause: error })
    case 'FST_STATIC_FORBIDDEN_PATH':
      return new Fault('not_found', 'There is nothing above this folder', { cause: error })
    case 'FST_ERR_BAD_URL':
      return new Fault('invalid_request', error.message, { cause: error })
    default:
      return new Fault('internal', 'The server failed; the log has the reason under this request id', { cause: error })
  }
}
