/**
 * Decompresses request bodies, and compresses responses for clients that accept it: those of every GET route except event
 * streams and routes that opt out with `compress: false`.
 */
import fastifyCompress from '@fastify/compress'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { RouteOptions } from 'fastify'
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
