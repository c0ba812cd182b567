/** Adds lost slot jobs of active evals and collections again, and ends those that take too long. */

import type { Producer } from '../../../platform/queue/producer.ts'
import type { EvalAggregator } from '../eval-aggregator.ts'
import { type GenerationJobRepository, MAX_ACTIVE_MS } from '../generation-job-repository.ts'
import type { GenerationJobSpec } from '../generation-job-spec.ts'
import { enqueueSlotJobs } from '../job-slots.ts'

/** One that was just created may be listed as active before it is stored. */
const MIN_AGE_MS = 10_000

interface SweepGenerationJobsDeps {
  generationJobs: GenerationJobRepository
  producer: Producer
  aggregator: EvalAggregator
}

/** A slot that a worker is at keeps its job: adding it again changes nothing. */
export async function sweepGenerationJobs({
  generationJobs,
  producer,
  aggregator,
}: SweepGenerationJobsDeps): Promise<void> {
  for (const { id, since } of await generationJobs.listActive()) {
    const job = await generationJobs.get(id)
    const ageMs = Date.now() - since
    if (!job || (job.status !== 'queued' && job.status !== 'running')) {
      if (ageMs > MIN_AGE_MS) await generationJobs.markInactive(id)
    } else if (ageMs > MAX_ACTIVE_MS) {
      await aggregator.finalize(id, 'failed', 'It did not finish in time')
    } else {
      const { model } = job.spec as GenerationJobSpec // as its maker wrote it
      if (model) await enqueueSlotJobs(producer, id, model.concurrency, job.total)
    }
  }
}
