/** Traces and counts every request by the route's pattern, not by its path. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { MetricsRecorder } from '../../platform/metrics/metrics-recorder.ts'
import { NO_TRACING, type OpenSpan, type Tracing } from '../../platform/telemetry/tracing.ts'
import { getRunName } from './request-log.ts'

const MAX_PATH_CHARS = 300
/** `SpanStatusCode.ERROR`: the package that has it is loaded only where tracing is on. */
const ERROR_STATUS = 2

interface RequestSpan {
  span: OpenSpan
  /** Runs a function in the span's context, which is lost while the body arrives. */
  enter: (run: () => void) => void
}

/** A span for each request. It continues the trace of the caller's `traceparent`. */
export const requestTraces = fastifyPlugin<{ tracing: Tracing }>(
  async (app, { tracing }) => {
    if (tracing === NO_TRACING) return
    const spans = new WeakMap<FastifyRequest, RequestSpan>()
    app.addHook('onRequest', (request, reply, done) => {
      const { traceparent } = request.headers
      const options = {
        kind: 'server',
        traceparent: typeof traceparent === 'string' ? traceparent : undefined,
        attributes: describeRequest(request),
      } as const
      void tracing.span(nameSpan(request), options, async (span) => {
        spans.set(request, { span, enter: AsyncLocalStorage.snapshot() })
        const sent = waitUntilSent(reply)
        done()
        await sent
        describeResponse(span, reply)
      })
    })
    app.addHook('preHandler', (request, _reply, done) => {
      const known = spans.get(request)
      if (!known) return done()
      const run = getRunName(request)
      if (run !== undefined) known.span.setAttribute('rgs.run', run)
      known.enter(done)
    })
  },
  { name: 'request-traces', dependencies: ['request-ids'] },
)

function nameSpan({ method, routeOptions }: FastifyRequest): string {
  return routeOptions.url === undefined ? method : `${method} ${routeOptions.url}`
}

function describeRequest({ method, protocol, url, id, routeOptions, headers }: FastifyRequest) {
  return {
    'http.request.method': method,
    'http.route': routeOptions.url,
    'url.scheme': protocol,
    'url.path': url.split('?', 1)[0]?.slice(0, MAX_PATH_CHARS),
    'user_agent.original': headers['user-agent'],
    'rgs.request_id': id,
  }
}

/** A connection that the client has closed ends the span, too. */
function waitUntilSent({ raw }: FastifyReply): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  raw.once('finish', resolve).once('close', resolve)
  return promise
}

function describeResponse(span: OpenSpan, { statusCode }: FastifyReply): void {
  span.setAttribute('http.response.status_code', statusCode)
  if (statusCode < 500) return
  span.setAttribute('error.type', String(statusCode))
  span.setStatus({ code: ERROR_STATUS })
}

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
