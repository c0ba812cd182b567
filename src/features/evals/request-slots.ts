/**
 * Manages slots: a job that wants c requests in flight has c slots. Each slot is a queue job that generates a few
 * samples in a row and then goes to the end of the queue, so that all active jobs share the workers.
 */
import type { Producer } from '../../platform/queue/producer.ts'
import { countConcurrentSamples } from './frontier/frontier-layout.ts'
import type { GenerationJobSpec } from './generation-job-spec.ts'
import { generateSamplesJob } from './jobs/definitions.ts'
import type { GenerationJob } from './records.ts'

/** Adds the slots that are not in the queue and leaves the others unchanged. A job without a model has no slots. */
export async function enqueueSlotJobs(
  producer: Producer,
  { id, spec, total }: Pick<GenerationJob, 'id' | 'spec' | 'total'>,
): Promise<void> {
  if (!spec.model) return
  const slots = Array.from(
    { length: Math.min(spec.model.concurrency, countConcurrent(spec, total)) },
    (_, slot) => slot,
  )
  await producer.add(
    generateSamplesJob,
    slots.map((slot) => ({ id: `${id}/${slot}`, data: { job: id, slot } })),
  )
}

/** Returns the number of samples that can be processed at the same time. */
function countConcurrent(spec: GenerationJobSpec, total: number): number {
  return spec.kind === 'eval' && spec.frontier ? countConcurrentSamples(spec.frontier) : total
}
