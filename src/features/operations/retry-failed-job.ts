/** Has a failed job tried again: first what it works on is open again in the run's slot, then the queue gets its hint. */
import { type FailedJobs, parseJobData } from '../../platform/queue/failed-jobs.ts'
import type { GroupRepository } from '../rollouts/repository.ts'

/** False if there is no such failed job, or nothing is left of what it worked on. */
export async function retryFailedJob(
  { failures, groups }: { failures: FailedJobs; groups: GroupRepository },
  id: string,
): Promise<boolean> {
  const found = await failures.get(id)
  if (!found) return false
  const { name, job } = found
  if (name === 'score-group') {
    const place = parseJobData(name, job)
    const open = (await groups.reopen(place)) || (await groups.get(place))?.status === 'queued'
    if (!open) {
      await job.remove()
      return false
    }
  }
  // Somebody else may be faster with the same; a group that is open again is found by the sweeper in any case.
  await job.retry('failed', { resetAttemptsMade: true }).catch(async (error: unknown) => {
    if (await job.isFailed()) throw error
  })
  return true
}
