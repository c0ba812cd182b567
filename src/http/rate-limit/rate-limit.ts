/** Applies the rate limits to every request except probes. */
import { Transform } from 'node:stream'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import fastifyPlugin from 'fastify-plugin'
import { PROBE_PATHS } from '../observability/probe-paths.ts'
import type { RateLimiter } from './rate-limiter.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** For messages on open connections, of which the hooks see only the start; undefined without limits. */
    rateLimiter: RateLimiter | undefined
  }
}

interface RateLimitOptions {
  /** undefined: no limits. */
  rateLimiter: RateLimiter | undefined
}

/** Comes before authorization, so that floods without a key are limited too. */
export const rateLimit = fastifyPlugin<RateLimitOptions>(
  async (app, { rateLimiter }) => {
    app.decorate('rateLimiter', rateLimiter)
    if (!rateLimiter) return
    app.addHook('onRequest', ({ caller, headers, routeOptions }, _reply, done) => {
      if (PROBE_PATHS.has(routeOptions.url)) return done() // a rejected probe would restart a healthy server
      const bytes = Number(headers['content-length'] ?? 0)
      const retryAfter = rateLimiter.consume(caller, { requests: 1, bytes })
      if (retryAfter !== undefined) {
        const subject = caller.role === null ? 'This address, which sent no valid key,' : 'This API key'
        throw new ServiceError(
          'rate_limited',
          `${subject} has reached its limit per minute. Retry in ${retryAfter} s.`,
          {
            retryAfter,
          },
        )
      }
      done()
    })
    app.addHook('preParsing', ({ caller, headers }, _reply, payload, done) => {
      if (headers['transfer-encoding'] === undefined) return done(null, payload)
      const byteCounter = new Transform({
        transform(chunk: Buffer, _encoding, next) {
          rateLimiter.addBytes(caller, chunk.length)
          next(null, chunk)
        },
      })
      payload.once('error', (error) => byteCounter.destroy(error))
      done(null, payload.pipe(byteCounter))
    })
  },
  { name: 'rate-limit', dependencies: ['authentication'] },
)
