/** Counts every answer, by the route's pattern and not by what the caller wrote. */
import type { FastifyInstance } from 'fastify'

/** `GET /unknown` and the like share one series. */
const NO_ROUTE = 'none'

export function addMetrics(
  app: FastifyInstance,
  meters: { answered(method: string, route: string, status: number, seconds: number): void },
): void {
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.is404 ? NO_ROUTE : (request.routeOptions.url ?? NO_ROUTE)
    meters.answered(request.method, route, reply.statusCode, reply.elapsedTime / 1000)
    done()
  })
}
