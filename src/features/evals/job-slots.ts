/**
 * Slots: an eval or collection with `concurrency` requests in flight has as many slots. Each slot is a job that generates a
 * few samples in a row and then goes to the end of the queue, so that the workers serve all active evals in turn.
 */
import type { Producer } from '../../platform/queue/producer.ts'
import { generateSamplesJob } from './jobs/definitions.ts'

/** Adds the slots' jobs that are not in the queue. */
export async function enqueueSlotJobs(
  producer: Producer,
  id: string,
  concurrency: number,
  total: number,
): Promise<void> {
  const slots = Array.from({ length: Math.min(concurrency, total) }, (_, slot) => slot)
  await producer.add(
    generateSamplesJob,
    slots.map((slot) => ({ id: `${id}/${slot}`, data: { job: id, slot } })),
  )
}
