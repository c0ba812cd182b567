/**
 * Lanes: an eval or collection that wants c requests in flight has c lanes, each a job that asks for a few samples in a
 * row and then goes to the end of the queue. So the workers' slots go round among all that are at work.
 */
import type { Producer } from '../../platform/queue/producer.ts'

/** Adds the lanes that are not there; those that are stay as they are. */
export async function enqueueSlotJobs(
  producer: Producer,
  id: string,
  concurrency: number,
  total: number,
): Promise<void> {
  const lanes = Array.from({ length: Math.min(concurrency, total) }, (_, lane) => lane)
  await producer.add(
    'sample',
    lanes.map((lane) => ({ id: `${id}/${lane}`, data: { sampling: id, lane } })),
  )
}
