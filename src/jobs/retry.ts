/** Has a failed job tried again: first what it works on is open again in the run's slot, then the queue gets its hint. */
import { dataOf, type Failures } from '../queue/failures.ts'
import type { Groups } from '../store/groups.ts'

/** False if there is no such failed job, or nothing is left of what it worked on. */
export async function retryJob(
  { failures, groups }: { failures: Failures; groups: Groups },
  id: string,
): Promise<boolean> {
  const found = await failures.find(id)
  if (!found) return false
  const { name, job } = found
  if (name === 'score-group') {
    const place = dataOf(name, job)
    const open = (await groups.reopen(place)) || (await groups.find(place))?.status === 'queued'
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
