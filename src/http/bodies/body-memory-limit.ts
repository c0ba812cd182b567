/**
 * Limits how many bytes of large bodies a process holds at once. Requests over the limit wait with their body unread. A route
 * releases the memory once it no longer needs the body.
 */
import type { FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { ServiceError } from '../../contract/errors.ts'
import { WeightedSemaphore } from '../../platform/weighted-semaphore.ts'
import { getContentEncoding } from './request-decompression.ts'

/** Smaller bodies are not counted. */
const LARGE_BODY_BYTES = 256 * 1024
const BODY_MEMORY_BYTES = 24 * 1024 * 1024
const MAX_WAIT_MS = 20_000
const MAX_WAITING_BODIES = 1000
/** The assumed size of a decompressed body, relative to its compressed size. */
const ASSUMED_COMPRESSION_RATIO = 4

declare module 'fastify' {
  interface FastifyRequest {
    /** Drops the body and releases its memory, so that the next large body can be read. */
    releaseBody(): void
    reservedBodyBytes: number
  }
}

export const bodyMemoryLimit = fastifyPlugin(
  async (app) => {
    const bodyMemory = new WeightedSemaphore(BODY_MEMORY_BYTES)
    const release = (request: FastifyRequest) => {
      bodyMemory.release(request.reservedBodyBytes)
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
      if (bodyMemory.waitingCount >= MAX_WAITING_BODIES) return done(createTooManyBodiesError())
      const reject = (error: ServiceError) => {
        clearTimeout(timer)
        if (reservation.cancel()) done(error)
      }
      const onAborted = () => reject(new ServiceError('invalid_request', 'The body ended early'))
      const timer = setTimeout(() => reject(createTooManyBodiesError()), MAX_WAIT_MS)
      payload.once('close', onAborted)
      const reservation = bodyMemory.acquire(bytes, () => {
        clearTimeout(timer)
        payload.off('close', onAborted)
        request.reservedBodyBytes = bytes
        reply.raw.once('close', () => release(request)) // responded, or the client disconnected
        done(null, payload)
      })
    })
  },
  { name: 'body-memory-limit', dependencies: ['rate-limit'] },
)

/** At most the whole limit: such a body is read alone. A body of undeclared length counts as large. */
function estimateBodyBytes(request: FastifyRequest): number {
  const { headers } = request
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return 0
  const declaredBytes = Number(headers['content-length'] ?? BODY_MEMORY_BYTES)
  const estimatedBytes =
    getContentEncoding(request) === undefined ? declaredBytes : declaredBytes * ASSUMED_COMPRESSION_RATIO
  return estimatedBytes <= LARGE_BODY_BYTES
    ? estimatedBytes
    : Math.min(estimatedBytes, request.routeOptions.bodyLimit ?? 0, BODY_MEMORY_BYTES)
}

function createTooManyBodiesError(): ServiceError {
  return new ServiceError('rate_limited', 'Too many large bodies are being read at once; send this one again', {
    retryAfter: 2,
  })
}
