/** Turns every failure into a problem document with a code from the table. */

import { NestingTooDeepError } from '@reasoning-gym-server/codec/content-hash'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FastifyError, FastifyReply } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { translateRedisError } from '../../platform/redis/redis-errors.ts'
import { enableLingeringClose } from '../connections/lingering-close.ts'
import { buildProblemReply } from './error-table.ts'

export const errorHandling = fastifyPlugin(
  async (app) => {
    const addresses = new RouteTable()
    app.addHook('onRoute', ({ method, url }) => addresses.add([method].flat(), url))
    // Immediately: an invalid body does not matter if no client is left to read the error.
    app.addHook('onRequest', ({ is404, url, method }, _reply, done) =>
      done(is404 || addresses.isMethodMismatch(url, method) ? addresses.createRoutingError(url, method) : undefined),
    )
    app.setErrorHandler((error: FastifyError, request, reply) => {
      const serviceError = hasClientLeft(error, reply) ? createLeftError() : toServiceError(error)
      const { status, headers, document } = buildProblemReply(serviceError)
      if (status >= 500) {
        const level = serviceError.code === 'internal' ? 'error' : 'warn'
        const isRedis = serviceError.code === 'redis_unavailable' || serviceError.code === 'redis_full'
        const err = serviceError.cause ?? error
        request.log[level](isRedis ? {} : { err }, serviceError.message) // the stack of a driver does not help
        if (isRedis) request.log.debug({ err }, 'stack trace of the Redis client')
      }
      if (serviceError.code === 'method_not_allowed')
        reply.header('allow', addresses.listMethods(request.url).join(', '))
      if (serviceError.code === 'request_timeout') endConnection(reply)
      else {
        keepConnectionAlive(reply)
        enableLingeringClose(request.raw)
      }
      return reply.status(status).headers(headers).send(JSON.stringify(document))
    })
    app.setNotFoundHandler(({ url, method }) => {
      throw addresses.createRoutingError(url, method)
    })
  },
  { name: 'error-handling', dependencies: ['rate-limit', 'malformed-paths'] },
)

/**
 * Fastify closes the connection when it rejects a body, so many clients that are still sending would never see the response.
 * Here, Node discards the rest of the body until the request times out. A server that shuts down still closes its
 * connections: it sets the header on the raw response.
 */
function keepConnectionAlive(reply: FastifyReply): void {
  const closing = reply.raw.getHeader('connection')
  reply.removeHeader('connection')
  if (closing !== undefined) reply.raw.setHeader('connection', closing)
}

/**
 * Whether the work for a reply ended because its client closed the connection, which is no failure of the server. The probe server of
 * a worker waits for no client: its replies have no reader.
 */
function hasClientLeft(error: unknown, { reader }: Partial<Pick<FastifyReply, 'reader'>>): boolean {
  return reader?.closed.aborted === true && error === reader.closed.reason
}

function createLeftError(): ServiceError {
  return new ServiceError(
    'request_timeout',
    'The client closed the connection before the reply was complete. Wait longer, or request less.',
  )
}

/** A client that is too slow would be as slow with the rest of its body. */
function endConnection(reply: FastifyReply): void {
  reply.removeHeader('connection')
  reply.raw.setHeader('connection', 'close')
}

function toServiceError(error: FastifyError): ServiceError {
  const known = translateRedisError(error)
  if (known instanceof ServiceError) return known
  if (error instanceof NestingTooDeepError)
    return new ServiceError('invalid_request', `${error.message}. Send a flatter body.`, { cause: error })
  switch (error.code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ServiceError(
        'unsupported_media_type',
        'The content type of the body is not supported. Send application/json.',
        { cause: error },
      )
    case 'FST_STATIC_FORBIDDEN_PATH':
      return new ServiceError('not_found', 'The path leaves the folder that is served. See /docs for all routes.', {
        cause: error,
      })
    case 'FST_ERR_BAD_URL':
      return new ServiceError('invalid_request', `${error.message}. Encode the URL.`, { cause: error })
    default:
      return new ServiceError(
        'internal',
        'The server failed. Its log has the reason under the request ID in X-Request-Id.',
        {
          cause: error,
        },
      )
  }
}

interface RoutePattern {
  pattern: RegExp
  /** Literal characters: `/eval/compare` ranks before `/eval/:id`. */
  literalLength: number
  methods: Set<string>
}

/**
 * The paths and methods of all routes, for the 404 or 405 of a request that matches none. It is a table, not one 405 route per
 * path and method: the onRoute hooks of authorization, metrics, admission and the API document would treat such routes as real
 * ones. A reader who sends DELETE /tasks would then get a 403 instead of a 405.
 */
class RouteTable {
  readonly #patterns = new Map<string, RoutePattern>()

  add(methods: string[], url: string): void {
    const plain = url.length > 1 ? url.replace(/\/$/, '') : url
    const pattern = plain
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:\w+/g, '[^/]+')
      .replaceAll('*', '.*')
    const known = this.#patterns.get(plain)
    const route = known ?? {
      pattern: new RegExp(`^${pattern}/?$`),
      literalLength: countLiteralChars(plain),
      methods: new Set(),
    }
    for (const method of methods) route.methods.add(method)
    if (url !== '*') this.#patterns.set(plain, route) // `*` answers CORS preflights
  }

  /** Whether the path is a literal route without this method, although a wider pattern has it. */
  isMethodMismatch(url: string, method: string): boolean {
    const known = this.#patterns.get(url.split('?')[0] ?? '')
    return known !== undefined && !known.methods.has(method)
  }

  listMethods(url: string): string[] {
    const [path = ''] = url.split('?')
    const found = [...this.#patterns.values()].filter(({ pattern }) => pattern.test(path))
    return [...(found.toSorted((a, b) => b.literalLength - a.literalLength)[0]?.methods ?? [])]
  }

  /** A 404, or a 405 if the path supports other methods. */
  createRoutingError(url: string, method: string): ServiceError {
    const [path = ''] = url.split('?')
    const methods = this.listMethods(url)
    const shown = path.slice(0, 200)
    // A folder route supports the method, but has no such file.
    return methods.length === 0 || methods.includes(method)
      ? new ServiceError('not_found', `There is nothing at ${shown}. See /docs for all routes.`)
      : new ServiceError(
          'method_not_allowed',
          `${shown} does not support ${method}. Supported methods: ${methods.join(', ')}.`,
        )
  }
}

function countLiteralChars(url: string): number {
  return url.replace(/:\w+|\*/g, '').length
}
