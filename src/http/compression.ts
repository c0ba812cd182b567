/**
 * Decompresses request bodies, and compresses responses for clients that accept it: those of every GET route except event
 * streams and routes that opt out with `compress: false`. The body parser enforces the limit of the route during decompression.
 */

import { PassThrough } from 'node:stream'
import fastifyCompress from '@fastify/compress'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FastifyRequest, RequestPayload, RouteOptions } from 'fastify'
import fastifyPlugin from 'fastify-plugin'

const EVENT_STREAM = 'text/event-stream'
const COMPRESSIBLE_TYPE = /^text\/|[/+](?:json|x-ndjson|xml)(?:;|$)/

/** Responses to POST go to trainers in the same network, where compressing takes longer than sending. */
export const compression = fastifyPlugin(
  async (app) => {
    app.addHook('onRoute', (route) => {
      if (![route.method].flat().includes('GET') || isEventStream(route)) route.compress = false
    })
    await app.register(fastifyCompress, {
      customTypes: (type) => COMPRESSIBLE_TYPE.test(type),
      onUnsupportedRequestEncoding: (encoding) =>
        new ServiceError(
          'unsupported_media_type',
          `The content encoding ${encoding.slice(0, 99)} is not supported. Send the body uncompressed, or use gzip, br, zstd or deflate.`,
        ),
    })
  },
  { name: 'compression' },
)

/** A compressor would delay events until it has a full block of them. */
function isEventStream({ schema }: RouteOptions): boolean {
  return Object.values(schema?.response ?? {}).some(
    (response) => typeof response === 'object' && EVENT_STREAM in Object(Reflect.get(response, 'content') ?? {}),
  )
}

/** The encoding of a request's body; undefined if it is not compressed. */
export function getContentEncoding({ headers }: FastifyRequest): string | undefined {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (encoding === '' || encoding === 'identity') return undefined
  return encoding === 'x-gzip' ? 'gzip' : encoding
}

/** Prepares compressed bodies for @fastify/compress, whose hooks run after those of the server. */
export const requestDecompression = fastifyPlugin(
  async (app) => {
    app.addHook('preParsing', (request, _reply, payload, done) => {
      const encoding = getContentEncoding(request)
      if (encoding === undefined) return done(null, payload)
      request.headers['content-encoding'] = encoding
      done(null, detachFromRequest(payload))
    })
  },
  { name: 'request-decompression', dependencies: ['rate-limit', 'compression'] },
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
