/**
 * How much of large bodies a process holds at once. Who comes over it waits with the body unread, so that many large posts
 * take turns instead of memory. A route gives the room back once it has no more use for the body.
 */
import type { FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { ServiceError } from '../../contract/errors.ts'
import { WeightedSemaphore } from '../../platform/weighted-semaphore.ts'
import { getContentEncoding } from './request-decompression.ts'

/** Smaller bodies do not count. */
const LARGE_BODY_BYTES = 256 * 1024
const BODY_MEMORY_BYTES = 24 * 1024 * 1024
const MAX_WAIT_MS = 20_000
const MAX_WAITING_BODIES = 1000
/** What a packed body may come to. */
const ASSUMED_COMPRESSION_RATIO = 4

declare module 'fastify' {
  interface FastifyRequest {
    /** The body is used and may be forgotten: the next large one can be read. */
    releaseBody(): void
    reservedBodyBytes: number
  }
}

export const bodyMemoryLimit = fastifyPlugin(
  async (app) => {
    const room = new WeightedSemaphore(BODY_MEMORY_BYTES)
    const release = (request: FastifyRequest) => {
      room.release(request.reservedBodyBytes)
      request.reservedBodyBytes = 0
    }

    app.decorateRequest('reservedBodyBytes', 0)
    app.decorateRequest('releaseBody', function releaseBody(this: FastifyRequest) {
      this.body = undefined
      release(this)
    })
    app.addHook('preParsing', (request, reply, payload, done) => {
      const bytes = estimateBodyBytes(request)
      if (bytes <= LARGE_BODY_BYTES) return done(null, payload)
      if (room.waitingCount >= MAX_WAITING_BODIES) return done(createTooManyBodiesError())
      const refuse = (fault: ServiceError) => {
        clearTimeout(timer)
        if (place.cancel()) done(fault)
      }
      const gone = () => refuse(new ServiceError('invalid_request', 'The body broke off'))
      const timer = setTimeout(() => refuse(createTooManyBodiesError()), MAX_WAIT_MS)
      payload.once('close', gone)
      const place = room.acquire(bytes, () => {
        clearTimeout(timer)
        payload.off('close', gone)
        request.reservedBodyBytes = bytes
        reply.raw.once('close', () => release(request)) // answered, or the client is gone
        done(null, payload)
      })
    })
  },
  { name: 'body-memory-limit', dependencies: ['rate-limit'] },
)

/** At most all the room there is: then the body is read alone. Who does not say how long it is counts as large. */
function estimateBodyBytes(request: FastifyRequest): number {
  const { headers } = request
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return 0
  const said = Number(headers['content-length'] ?? BODY_MEMORY_BYTES)
  const unpacked = getContentEncoding(request) === undefined ? said : said * ASSUMED_COMPRESSION_RATIO
  return unpacked <= LARGE_BODY_BYTES
    ? unpacked
    : Math.min(unpacked, request.routeOptions.bodyLimit ?? 0, BODY_MEMORY_BYTES)
}

function createTooManyBodiesError(): ServiceError {
  return new ServiceError('rate_limited', 'Too many large bodies are being read at once; send this one again', {
    retryAfter: 2,
  })
}
