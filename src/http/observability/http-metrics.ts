/** Counts every answer, by the route's pattern and not by what the caller wrote. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** `GET /unknown` and the like share one series. */
const UNMATCHED_ROUTE_LABEL = 'none'

interface HttpMetricsRecorder {
  recordResponse(method: string, route: string, status: number, seconds: number): void
}

export function addHttpMetrics(app: FastifyInstance, meters: HttpMetricsRecorder): void {
  const count = (route: string) => (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
    meters.recordResponse(request.method, route, reply.statusCode, reply.elapsedTime / 1000)
    done()
  }
  const countUnknown = count(UNMATCHED_ROUTE_LABEL)
  app.addHook('onRoute', (route) => {
    route.onResponse = [count(route.url), ...[route.onResponse ?? []].flat()]
  })
  app.addHook('onResponse', (request, reply, done) => (request.is404 ? countUnknown(request, reply, done) : done()))
}
