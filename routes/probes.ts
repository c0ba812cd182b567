/** GET /livez, /readyz and /metrics: for orchestrators and Prometheus. Workers serve them, too. */

import { canAccessRun } from '@reasoning-gym-server/contract/caller'
import { textResponse } from '@reasoning-gym-server/contract/common'
import { Readiness } from '@reasoning-gym-server/contract/overview'
import { z } from 'zod'
import type { OperationsFeature } from '../src/features/operations/index.ts'
import type { App } from '../src/http/app.ts'
import { AnyQuery } from '../src/http/validation.ts'
import { PROMETHEUS_CONTENT_TYPE } from '../src/platform/metrics/metric-definitions.ts'

/** The same as for `redis_unavailable`. */
const NOT_READY_RETRY_AFTER_S = 2

export function addProbeRoutes(app: App, { checkReadiness }: OperationsFeature): void {
  app.get(
    '/livez',
    {
      config: { access: 'anyone' },
      schema: {
        operationId: 'checkLiveness',
        tags: ['operations'],
        summary: 'Check liveness',
        description: 'Liveness probe: returns 200 while the process is running.',
        querystring: AnyQuery,
        response: {
          200: z
            .strictObject({ status: z.literal('alive').describe('The process is running.') })
            .meta({ id: 'Liveness', description: 'The process is running.' }),
        },
      },
    },
    () => ({ status: 'alive' as const }),
  )

  app.get(
    '/readyz',
    {
      config: { access: 'anyone' },
      schema: {
        operationId: 'checkReadiness',
        tags: ['operations'],
        summary: 'Check readiness',
        description:
          'Readiness probe: returns 200 if Redis accepts writes, the engine is available and its tasks are loaded, else 503. Missing workers do not make the process unready.',
        querystring: AnyQuery,
        response: { 200: Readiness, 503: Readiness },
      },
    },
    async (_request, reply) => {
      const answer = await checkReadiness()
      if (answer.status === 'ready') return answer
      return reply.status(503).header('retry-after', NOT_READY_RETRY_AFTER_S).send(answer)
    },
  )
}

export function addMetricsRoutes(app: App, { metrics }: OperationsFeature): void {
  app.get(
    '/metrics',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'getMetrics',
        tags: ['operations'],
        summary: 'Get Prometheus metrics',
        description:
          'Returns the metrics of this process, or of all processes of one `npm start`. API processes add the gauges of the whole fleet.',
        querystring: AnyQuery,
        response: {
          200: textResponse(
            'text/plain',
            'Metrics in the Prometheus text format; docs/reference/metrics.md lists them.',
          ),
        },
      },
      serializerCompiler: () => (text) => text as string, // the handler returns a string
    },
    async ({ caller }, reply) =>
      reply.type(PROMETHEUS_CONTENT_TYPE).send(await metrics.scrape((run) => canAccessRun(caller, run))),
  )
}
