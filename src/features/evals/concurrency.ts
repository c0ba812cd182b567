/**
 * How many requests a generation job has in flight. A job that wants c requests at once has c slots. Each slot is a
 * queue job that generates a few samples in a row and then goes to the end of the queue, so that all active jobs share
 * the workers. A worker runs MODEL_CONCURRENCY slots at once.
 */
import { z } from 'zod'
import type { JobDefinition } from '../../platform/queue/job-definition.ts'
import type { Producer } from '../../platform/queue/queues.ts'
import { countConcurrentSamples } from './kinds/frontier.ts'
import type { GenerationJob } from './records.ts'

/** `job` is the ID of a generation job, `slot` the index of one of its concurrent requests. */
const GenerateSamplesJobData = z.strictObject({ job: z.string(), slot: z.int().min(0) })
export type GenerateSamplesJobData = z.infer<typeof GenerateSamplesJobData>

/** Requests a few samples in a row from a model. The sweep adds this job again while samples are missing. */
export const generateSamplesJob: JobDefinition<GenerateSamplesJobData> = {
  name: 'generate-samples',
  data: GenerateSamplesJobData,
  attempts: 10,
  backoffMs: 1000,
  discardFailures: true,
  lockMs: 15_000,
}

/** Adds the slots that are not in the queue and leaves the others unchanged. A job without a model has no slots. */
export async function enqueueSlotJobs(
  producer: Producer,
  { id, spec, total }: Pick<GenerationJob, 'id' | 'spec' | 'total'>,
): Promise<void> {
  if (!spec.model) return
  const mostAtOnce = spec.kind === 'eval' && spec.frontier ? countConcurrentSamples(spec.frontier) : total
  const count = Math.min(spec.model.concurrency, mostAtOnce)
  await producer.add(
    generateSamplesJob,
    Array.from({ length: count }, (_, slot) => ({ id: `${id}/${slot}`, data: { job: id, slot } })),
  )
}
