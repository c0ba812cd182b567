/**
 * Holds back the replies of calls that write until the replicas of Redis have what was written, if REDIS_REPLICAS asks for
 * it. One place for all routes, so that none is forgotten.
 */
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { ReplicationMark, WriteConfirmation } from '../platform/redis/replication.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route changes what is in Redis. By default, every method but GET, HEAD and OPTIONS does. */
    writesRedis?: boolean
  }
}

const READING_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

export const replicatedWrites = fastifyPlugin<{ replication: WriteConfirmation }>(
  async (app, { replication }) => {
    if (replication.replicas === 0) return
    const marks = new WeakMap<FastifyRequest, ReplicationMark>()
    app.addHook('onRequest', (request, _reply, done) => {
      if (writesRedis(request)) marks.set(request, replication.mark())
      done()
    })
    app.addHook('onSend', async (request, reply, payload) => {
      const mark = marks.get(request)
      if (mark === undefined || reply.statusCode >= 400) return payload // a rejection promises nothing
      marks.delete(request)
      try {
        await replication.confirm(mark)
      } catch (error) {
        if (payload instanceof Readable) payload.destroy()
        throw error
      }
      return payload
    })
  },
  { name: 'replicated-writes' },
)

function writesRedis({ method, routeOptions, is404 }: FastifyRequest): boolean {
  return !is404 && (routeOptions.config.writesRedis ?? !READING_METHODS.has(method))
}
