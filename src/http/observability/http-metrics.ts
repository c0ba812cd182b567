/** Counts every response by the route's pattern, not by the path of the request. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { MetricsRecorder } from '../../platform/metrics/metrics-recorder.ts'

/** Requests that match no route share one series. */
const UNMATCHED_ROUTE_LABEL = 'none'

export type HttpMetricsRecorder = Pick<MetricsRecorder, 'recordResponse'>

export const httpMetrics = fastifyPlugin<{ metricsRecorder: HttpMetricsRecorder }>(
  async (app, { metricsRecorder }) => {
    const record = (route: string) => (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
      metricsRecorder.recordResponse(request.method, route, reply.statusCode, reply.elapsedTime / 1000)
      done()
    }
    const recordUnmatched = record(UNMATCHED_ROUTE_LABEL)
    app.addHook('onRoute', (route) => {
      route.onResponse = [record(route.url), ...[route.onResponse ?? []].flat()]
    })
    app.addHook('onResponse', (request, reply, done) =>
      request.is404 ? recordUnmatched(request, reply, done) : done(),
    )
  },
  { name: 'http-metrics' },
)
