/**
 * Prepares compressed bodies for @fastify/compress, whose hooks run after those of the server: see ../compression.ts. The body
 * parser enforces the limit of the route while they are decompressed.
 */
import { PassThrough } from 'node:stream'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FastifyRequest, RequestPayload } from 'fastify'
import fastifyPlugin from 'fastify-plugin'

/** The encoding of a request's body; undefined if it is not compressed. */
export function getContentEncoding({ headers }: FastifyRequest): string | undefined {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (encoding === '' || encoding === 'identity') return undefined
  return encoding === 'x-gzip' ? 'gzip' : encoding
}

export const requestDecompression = fastifyPlugin(
  async (app) => {
    app.addHook('preParsing', (request, _reply, payload, done) => {
      const encoding = getContentEncoding(request)
      if (encoding === undefined) return done(null, payload)
      request.headers['content-encoding'] = encoding
      done(null, detachFromRequest(payload))
    })
  },
  { name: 'request-decompression', dependencies: ['body-memory-limit', 'compression'] },
)

/**
 * @fastify/compress destroys the stream that it reads from when a body is broken or too large. That must not be the request
 * itself, or the client would lose its connection before it has read the reason. The rest of the body is discarded.
 */
function detachFromRequest(payload: RequestPayload): PassThrough {
  const copy = new PassThrough()
  payload.once('close', () => {
    if (!payload.readableEnded)
      copy.destroy(
        new ServiceError('invalid_request', 'The body ended before it was complete. Send the request again.'),
      )
  })
  copy.once('close', () => {
    payload.unpipe(copy)
    payload.resume()
  })
  return payload.pipe(copy)
}
