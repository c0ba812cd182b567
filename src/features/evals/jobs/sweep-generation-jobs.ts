/** Adds lost slot jobs of active evals and collections again, and ends those that take too long. */
import { isActive } from '@reasoning-gym-server/contract/eval'
import type { Producer } from '../../../platform/queue/producer.ts'
import { fleetNow } from '../../../platform/redis/fleet-clock.ts'
import type { EvalAggregator } from '../eval-aggregator.ts'
import { type GenerationJobRepository, MAX_ACTIVE_MS } from '../generation-job-repository.ts'
import { enqueueSlotJobs } from '../job-slots.ts'

/** Minimum age of jobs to sweep: a new job may be listed as active before it is stored. */
const MIN_AGE_MS = 10_000
const HOUR_MS = 60 * 60 * 1000

interface SweepGenerationJobsDeps {
  generationJobs: GenerationJobRepository
  producer: Producer
  aggregator: EvalAggregator
}

/** Sweeps all active jobs. A slot that is in the queue does not change. */
export async function sweepGenerationJobs({
  generationJobs,
  producer,
  aggregator,
}: SweepGenerationJobsDeps): Promise<void> {
  for (const { id, since } of await generationJobs.listActive()) {
    const job = await generationJobs.get(id)
    const ageMs = fleetNow() - since
    if (!job || !isActive(job.status)) {
      if (ageMs > MIN_AGE_MS) await generationJobs.markInactive(id)
    } else if (ageMs > MAX_ACTIVE_MS) {
      await aggregator.finalize(id, 'failed', `It was not done after ${MAX_ACTIVE_MS / HOUR_MS} hours`)
    } else {
      await enqueueSlotJobs(producer, job)
    }
  }
}
