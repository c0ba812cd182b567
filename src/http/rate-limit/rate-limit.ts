/** Limits of each key, or of each address without one: requests and bytes a minute. Refused before anything is read. */
import { Transform } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../contract/errors.ts'
import { PROBE_PATHS } from '../observability/probe-paths.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** Comes after the guard has said who calls, and before it refuses: floods without a key are limited too. */
export function addRateLimit(app: FastifyInstance, meter: RateLimiter): void {
  app.addHook('onRequest', ({ caller, headers, routeOptions }, _reply, done) => {
    if (PROBE_PATHS.has(routeOptions.url)) return done() // refused, they would restart a sound server
    const bytes = Number(headers['content-length'] ?? 0)
    const seconds = meter.consume(caller, { requests: 1, bytes })
    if (seconds !== undefined) {
      const who = caller.role === null ? 'This address, without a valid key,' : 'This key'
      throw new ServiceError('rate_limited', `${who} has used its minute; ask again in ${seconds} s`, {
        retryAfter: seconds,
      })
    }
    done()
  })
  app.addHook('preParsing', ({ caller, headers }, _reply, payload, done) => {
    if (headers['transfer-encoding'] === undefined) return done(null, payload)
    const counting = new Transform({
      transform(chunk: Buffer, _encoding, next) {
        meter.addBytes(caller, chunk.length)
        next(null, chunk)
      },
    })
    payload.once('error', (error) => counting.destroy(error))
    done(null, payload.pipe(counting))
  })
}
