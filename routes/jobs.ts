/** /jobs/failed: jobs that failed after all their tries, for an admin to look at and to have tried again. */
import { z } from 'zod'
import type { OperationsFeature } from '../src/features/operations/index.ts'
import type { App } from '../src/http/app.ts'
import { problemResponses } from '../src/http/errors/problem-responses.ts'

const FailedJob = z.strictObject({
  id: z.string(),
  queue: z.string(),
  data: z.unknown().describe('What the job works on: for `score-group` run, epoch and group'),
  reason: z.string(),
  attempts: z.int(),
  failed_at: z.string().describe('ISO 8601'),
})

export function addJobRoutes(app: App, operations: OperationsFeature): void {
  app.get(
    '/jobs/failed',
    {
      schema: {
        operationId: 'listFailedJobs',
        tags: ['operations'],
        summary: 'Jobs that failed after all their tries, the latest first',
        querystring: z.strictObject({ limit: z.coerce.number().int().min(1).max(1000).default(100) }),
        response: {
          200: z.strictObject({ total: z.int(), jobs: z.array(FailedJob) }),
          ...problemResponses('redis_unavailable'),
        },
      },
    },
    ({ query }) => operations.listFailedJobs(query.limit),
  )

  app.post(
    '/jobs/failed/:id/retry',
    {
      schema: {
        operationId: 'retryFailedJob',
        tags: ['operations'],
        summary: 'Has a failed job tried again; a group is queued again and scored once',
        params: z.strictObject({ id: z.string().min(1).max(512) }),
        response: {
          202: z.strictObject({ id: z.string(), status: z.literal('queued') }),
          ...problemResponses('not_found', 'redis_unavailable', 'redis_full'),
        },
      },
    },
    async ({ params: { id } }, reply) => {
      await operations.retryFailedJob(id)
      return reply.status(202).send({ id, status: 'queued' as const })
    },
  )
}
