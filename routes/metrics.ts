/** GET /metrics: figures for Prometheus. */
import { PROMETHEUS_CONTENT_TYPE } from '../src/metrics/exposition.ts'
import { ANY_QUERY } from '../src/plugins/validation.ts'
import { mayUse } from '../src/words/caller.ts'
import { textOf } from '../src/words/text.ts'
import type { App, Services } from './context.ts'

export function metrics(app: App, { metrics }: Pick<Services, 'metrics'>): void {
  app.get(
    '/metrics',
    {
      schema: {
        tags: ['operations'],
        summary:
          'Figures for Prometheus, of all processes together; a key that is bound to runs sees the series of those',
        querystring: ANY_QUERY,
        response: { 200: textOf('text/plain', 'Prometheus text; docs/metrics.md lists the metrics') },
      },
      serializerCompiler: () => (text) => text as string, // as the handler gives it
    },
    async ({ caller }, reply) =>
      reply.type(PROMETHEUS_CONTENT_TYPE).send(await metrics.text((run) => mayUse(caller, run))),
  )
}
