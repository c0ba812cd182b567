/** GET /livez, /readyz: for those who keep the server running. */
import { z } from 'zod'
import { Readiness } from '../src/contract/overview.ts'
import type { OperationsFeature } from '../src/features/operations/index.ts'
import type { App } from '../src/http/app.ts'
import { AnyQuery } from '../src/http/validation.ts'

/** As for redis_unavailable. */
const NOT_READY_RETRY_AFTER_S = 2

export function addOperationRoutes(app: App, { checkReadiness }: OperationsFeature): void {
  app.get(
    '/livez',
    {
      schema: {
        operationId: 'checkLiveness',
        tags: ['operations'],
        summary: 'Answers while the process lives',
        querystring: AnyQuery,
        response: { 200: z.strictObject({ status: z.literal('alive') }) },
      },
    },
    () => ({ status: 'alive' as const }),
  )

  app.get(
    '/readyz',
    {
      schema: {
        operationId: 'checkReadiness',
        tags: ['operations'],
        summary: 'Whether Redis takes writes and the engine can be used; missing workers do not count',
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
