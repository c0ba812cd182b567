/** GET /metrics: Prometheus metrics. */

import { canAccessRun } from '@reasoning-gym-server/contract/caller'
import { textResponse } from '@reasoning-gym-server/contract/common'
import type { OperationsFeature } from '../src/features/operations/index.ts'
import type { App } from '../src/http/app.ts'
import { AnyQuery } from '../src/http/validation.ts'
import { PROMETHEUS_CONTENT_TYPE } from '../src/platform/metrics/registry.ts'

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
