/** The schedule of operations, and the retry of failed jobs of all features. */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FailedJobs } from '../../platform/queue/queue-state.ts'
import type { Schedule } from '../../platform/queue/schedules.ts'
import { listJobGroups, scoreGroupJob } from '../rollouts/jobs.ts'
import type { GroupRepository } from '../rollouts/repository.ts'

/** Appends a point to the series of the last hour. */
export const appendHourlyPointSchedule: Schedule = { name: 'append-hourly-point', everyMs: 10_000 }

/**
 * Retries a failed job: first its group becomes pending again, then the job returns to the queue. Throws `not_found` if
 * there is no such failed job, or its group no longer exists.
 */
export async function retryFailedJob(
  { failedJobs, groups }: { failedJobs: FailedJobs; groups: GroupRepository },
  id: string,
): Promise<void> {
  const failed = await failedJobs.get(id)
  if (!failed) throw unknownJobError(id)
  const { definition, job } = failed
  if (definition.name === scoreGroupJob.name) {
    const arePending = await Promise.all(
      listJobGroups(scoreGroupJob.data.parse(job.data)).map(
        async (group) => (await groups.reopen(group)) || (await groups.get(group))?.status === 'queued',
      ),
    )
    if (!arePending.includes(true)) {
      await job.remove()
      throw unknownJobError(id)
    }
  }
  // Another caller may have retried the job in the meantime. The sweep finds a pending group in any case.
  await job.retry('failed', { resetAttemptsMade: true }).catch(async (error: unknown) => {
    if (await job.isFailed()) throw error
  })
}

function unknownJobError(id: string): ServiceError {
  return new ServiceError('not_found', `There is no failed job ${id}. GET /jobs/failed lists the failed jobs.`)
}
