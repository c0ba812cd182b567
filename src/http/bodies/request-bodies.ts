/**
 * Takes request bodies from the connection to a parsed value. A large body waits for memory, a compressed one is
 * decompressed, and JSON is read and parsed within the limits of the route.
 */

import type { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { ArrivingBody, UploadLimiter } from '../../platform/client-memory/upload-limiter.ts'
import { getContentEncoding, requestDecompression } from '../compression.ts'
import { jsonBodyParser } from './json-body-parser.ts'

export const requestBodies = fastifyPlugin<{ bodyMemory: UploadLimiter }>(
  async (app, { bodyMemory }) => {
    await app.register(bodyMemoryPlugin, { bodyMemory })
    await app.register(requestDecompression)
    await app.register(jsonBodyParser)
  },
  { name: 'request-bodies', dependencies: ['rate-limit', 'compression'] },
)

/** Smaller bodies are not counted. */
const LARGE_BODY_BYTES = 64 * 1024

declare module 'fastify' {
  interface FastifyRequest {
    /** Drops the body and releases its memory. */
    releaseBody(): void
    /** undefined for small bodies. */
    arrivingBody: ArrivingBody | undefined
    /** Ends the reading of the body. */
    onBodyRefused: ((error: ServiceError) => void) | undefined
  }
}

/**
 * Puts large request bodies under the memory limit for bodies. The reader of the body (read-body.ts) asks for memory as the
 * bytes arrive, after decompression. The memory is released when a route no longer needs the body, at the latest with the
 * response.
 */
const bodyMemoryPlugin = fastifyPlugin<{ bodyMemory: UploadLimiter }>(
  async (app, { bodyMemory }) => {
    app.decorateRequest('arrivingBody', undefined)
    app.decorateRequest('onBodyRefused', undefined)
    app.decorateRequest('releaseBody', function releaseBody(this: FastifyRequest) {
      this.body = undefined
      this.arrivingBody?.release()
    })
    app.addHook('preParsing', (request, reply, payload, done) => {
      if (isLarge(request)) {
        const body = bodyMemory.open(request.caller.id, (error) => request.onBodyRefused?.(error))
        request.arrivingBody = body
        reply.raw.once('close', () => body.release()) // responded, or the client disconnected
      }
      done(null, payload)
    })
    app.addHook('onSend', (request, _reply, payload, done) => {
      request.arrivingBody?.release()
      done(null, payload)
    })
  },
  { name: 'body-memory', dependencies: ['rate-limit'] },
)

/** A body of undeclared length counts as large, and so does a compressed one. */
function isLarge(request: FastifyRequest): boolean {
  const { headers } = request
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return false
  return !(Number(headers['content-length']) <= LARGE_BODY_BYTES) || getContentEncoding(request) !== undefined
}
