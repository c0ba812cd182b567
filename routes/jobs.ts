/** /jobs/failed: jobs that failed after all their attempts, for an admin to inspect and retry. */
import { z } from 'zod'
import type { OperationsFeature } from '../src/features/operations/index.ts'
import type { App } from '../src/http/app.ts'

const FailedJob = z
  .strictObject({
    id: z.string().describe('ID of the job.'),
    queue: z.string().describe('Name of its queue.'),
    data: z.unknown().describe('Data of the job: for `score-group`, the run, epoch and group.'),
    reason: z.string().describe('Reason for the last failure.'),
    attempts: z.int().describe('Number of attempts.'),
    failed_at: z.string().describe('Time of the last failure, ISO 8601.'),
  })
  .meta({ id: 'FailedJob', description: 'A job that failed after all its attempts.' })

export function addJobRoutes(app: App, operations: OperationsFeature): void {
  app.get(
    '/jobs/failed',
    {
      config: { access: 'admins' },
      schema: {
        operationId: 'listFailedJobs',
        tags: ['operations'],
        summary: 'List failed jobs',
        description: 'Returns jobs that failed after all their attempts, most recent first.',
        querystring: z.strictObject({
          limit: z.coerce.number().int().min(1).max(1000).default(100).describe('Maximum number of jobs.'),
        }),
        response: {
          200: z
            .strictObject({
              total: z.int().describe('Number of failed jobs.'),
              jobs: z.array(FailedJob).describe('Failed jobs, most recent first.'),
            })
            .meta({ id: 'FailedJobList', description: 'Failed jobs.' }),
        },
      },
    },
    ({ query }) => operations.listFailedJobs(query.limit),
  )

  app.post(
    '/jobs/failed/:id/retry',
    {
      config: { access: 'admins' },
      schema: {
        operationId: 'retryFailedJob',
        tags: ['operations'],
        summary: 'Retry a failed job',
        description: 'Queues the job again. A group that is retried is scored and counted once.',
        params: z.strictObject({ id: z.string().min(1).max(512).describe('ID of the failed job.') }),
        response: {
          202: z
            .strictObject({
              id: z.string().describe('ID of the job.'),
              status: z.literal('queued').describe('The job is queued again.'),
            })
            .meta({ id: 'RetriedJob', description: 'The job is queued again.' }),
        },
        problems: ['not_found'],
      },
    },
    async ({ params: { id } }, reply) => {
      await operations.retryFailedJob(id)
      return reply.status(202).send({ id, status: 'queued' as const })
    },
  )
}
