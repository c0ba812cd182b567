/** GET /metrics: Prometheus metrics. */

import { canAccessRun } from '../src/contract/caller.ts'
import { textResponse } from '../src/contract/text-response.ts'
import type { OperationsFeature } from '../src/features/operations/index.ts'
import type { App } from '../src/http/app.ts'
import { AnyQuery } from '../src/http/validation.ts'
import { PROMETHEUS_CONTENT_TYPE } from '../src/platform/metrics/registry.ts'

export function addMetricsRoutes(app: App, { metrics }: OperationsFeature): void {
  app.get(
    '/metrics',
    {
      schema: {
        operationId: 'getMetrics',
        tags: ['operations'],
        summary:
          'Prometheus metrics of this process, or of all processes of one `npm start`; API processes add the fleet gauges',
        querystring: AnyQuery,
        response: {
          200: textResponse('text/plain', 'Prometheus text; docs/operations/monitoring.md lists the metrics'),
        },
      },
      serializerCompiler: () => (text) => text as string, // as the handler gives it
    },
    async ({ caller }, reply) =>
      reply.type(PROMETHEUS_CONTENT_TYPE).send(await metrics.scrape((run) => canAccessRun(caller, run))),
  )
}
