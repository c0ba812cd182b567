/** Begins the lanes of evals and collections again whose jobs were lost, ends what never comes to an end, lets go of models. */

import type { Producer } from '../../../platform/queue/producer.ts'
import type { EvalAggregator } from '../eval-aggregator.ts'
import { type GenerationJobRepository, MAX_ACTIVE_MS } from '../generation-job-repository.ts'
import type { GenerationJobSpec } from '../generation-job-spec.ts'
import { enqueueSlotJobs } from '../job-slots.ts'
import type { ModelClients } from '../model-clients.ts'

const JOB_SWEEP_INTERVAL_MS = 10_000

interface GenerationJobSweeperDeps {
  generationJobs: GenerationJobRepository
  producer: Producer
  models: ModelClients
  aggregator: EvalAggregator
}

export function startGenerationJobSweeper(
  parts: GenerationJobSweeperDeps,
  onError: (error: unknown) => void,
): { close(): void } {
  const timer = setInterval(() => void sweepGenerationJobs(parts).catch(onError), JOB_SWEEP_INTERVAL_MS)
  return { close: () => clearInterval(timer) }
}

/** A lane that is at work keeps its job: adding it again changes nothing. */
export async function sweepGenerationJobs({
  generationJobs: samplings,
  producer,
  models,
  aggregator: results,
}: GenerationJobSweeperDeps): Promise<void> {
  const ended = models.listJobIds() // before it is asked who is active: what begins meanwhile is not among them
  for (const { id, since } of await samplings.listActive()) {
    ended.delete(id)
    const found = await samplings.get(id)
    const age = Date.now() - since
    if (!found || (found.status !== 'queued' && found.status !== 'running')) {
      if (age > JOB_SWEEP_INTERVAL_MS) await samplings.markInactive(id)
    } else if (age > MAX_ACTIVE_MS) {
      await results.finalize(id, 'failed', 'It did not come to an end in time')
    } else {
      const { model } = found.spec as GenerationJobSpec // as its maker wrote it
      if (model) await enqueueSlotJobs(producer, id, model.concurrency, found.total)
    }
  }
  for (const id of ended) models.close(id)
}
