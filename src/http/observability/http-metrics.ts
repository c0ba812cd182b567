/** Counts every answer, by the route's pattern and not by what the caller wrote. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'

/** `GET /unknown` and the like share one series. */
const UNMATCHED_ROUTE_LABEL = 'none'

export interface HttpMetricsRecorder {
  recordResponse(method: string, route: string, status: number, seconds: number): void
}

export const httpMetrics = fastifyPlugin<{ metricsRecorder: HttpMetricsRecorder }>(
  async (app, { metricsRecorder }) => {
    const count = (route: string) => (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
      metricsRecorder.recordResponse(request.method, route, reply.statusCode, reply.elapsedTime / 1000)
      done()
    }
    const countUnknown = count(UNMATCHED_ROUTE_LABEL)
    app.addHook('onRoute', (route) => {
      route.onResponse = [count(route.url), ...[route.onResponse ?? []].flat()]
    })
    app.addHook('onResponse', (request, reply, done) => (request.is404 ? countUnknown(request, reply, done) : done()))
  },
  { name: 'http-metrics' },
)
