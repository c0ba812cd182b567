/** Bodies in gzip, zstd or deflate: unpacked as they come, and no further than the address takes. */
import type { Transform } from 'node:stream'
import { createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import type { FastifyRequest, RequestPayload } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { ServiceError } from '../../contract/errors.ts'

const DECODERS: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  zstd: createZstdDecompress,
}

/** The encoding of a request's body; undefined if it is as it is. */
export function getContentEncoding({ headers }: FastifyRequest): string | undefined {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  return encoding === '' || encoding === 'identity' ? undefined : encoding
}

export const requestDecompression = fastifyPlugin(
  async (app) => {
    app.addHook('preParsing', (request, _reply, payload, done) => {
      const encoding = getContentEncoding(request)
      if (encoding === undefined) return done(null, payload)
      const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding]?.() : undefined
      if (decoder) return done(null, decompressBody(payload, decoder, request.routeOptions.bodyLimit ?? 0))
      done(
        new ServiceError(
          'unsupported_media_type',
          `Bodies come plain, in gzip, zstd or deflate, not in ${encoding.slice(0, 99)}`,
        ),
      )
    })
  },
  { name: 'request-decompression', dependencies: ['body-memory-limit'] },
)

/** The decoder as the body; whatever ends it, what is left of the packed bytes is thrown away as it comes. */
function decompressBody(payload: RequestPayload, decoder: Transform, limit: number): RequestPayload {
  payload.once('error', (error) => decoder.destroy(error))
  payload.once('close', () => {
    if (!payload.readableEnded) decoder.destroy(new ServiceError('invalid_request', 'The body broke off'))
  })
  let bytes = 0
  decoder.on('data', (chunk: Buffer) => {
    bytes += chunk.byteLength
    if (bytes > limit)
      decoder.destroy(new ServiceError('body_too_large', `The body is over ${limit} bytes once it is unpacked`))
  })
  decoder.once('close', () => {
    payload.unpipe(decoder)
    payload.resume()
  })
  decoder.on('error', () => {}) // whoever reads the body hears of it; nobody may, once it is refused
  return payload.pipe(decoder)
}
