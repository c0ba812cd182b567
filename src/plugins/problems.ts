/** Failures on the wire: every one becomes a problem document with a code from the table. */
import type { FastifyError, FastifyInstance } from 'fastify'
import { Fault } from '../faults.ts'
import { redisFault } from '../store/redis.ts'

export function addProblems(app: FastifyInstance): void {
  const routes: { methods: string[]; pattern: RegExp }[] = []
  app.addHook('onRoute', ({ method, url }) => {
    const pattern = new RegExp(`^${url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+')}/?$`)
    routes.push({ methods: [method].flat(), pattern })
  })
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const fault = toFault(error)
    if (fault.status >= 500)
      request.log[fault.code === 'internal' ? 'error' : 'warn']({ err: fault.cause ?? error }, fault.message)
    return reply
      .status(fault.status)
      .headers(retryHeader(fault))
      .type('application/problem+json')
      .send(JSON.stringify(fault.problem()))
  })
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0] ?? ''
    const methods = routes.filter(({ pattern }) => pattern.test(path)).flatMap((route) => route.methods)
    if (methods.length === 0) throw new Fault('not_found', `There is nothing at ${path}; GET /docs lists what there is`)
    reply.header('allow', [...new Set(methods)].join(', '))
    throw new Fault('method_not_allowed', `${path} takes ${[...new Set(methods)].join(', ')}`)
  })
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
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Fault('body_too_large', 'The body is larger than this address takes', { cause: error })
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Fault('unsupported_media_type', 'Send application/json', { cause: error })
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_BAD_URL':
      return new Fault('invalid_request', error.message, { cause: error })
    default:
      return new Fault('internal', 'The server failed; the log has the reason under this request id', { cause: error })
  }
}
