/** The recurring work of generation jobs: adds lost requests again, ends jobs that take too long, closes unused clients. */
import { isActive } from '@reasoning-gym-server/contract/generation-job'
import type { Logger } from 'pino'
import type { Producer } from '../../platform/queue/queues.ts'
import type { Schedule } from '../../platform/queue/schedules.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { sweepEach } from '../runs/run-index.ts'
import type { JobAggregator } from './aggregator.ts'
import { enqueueSlotJobs } from './concurrency.ts'
import type { ModelClients } from './models/clients.ts'
import { MAX_ACTIVE_MS } from './records.ts'
import type { GenerationJobRepository } from './repository.ts'

/** Adds lost slots of active jobs again, and ends jobs that take too long. */
export const sweepGenerationJobsSchedule: Schedule = { name: 'sweep-generation-jobs', everyMs: 10_000 }

/** Minimum age of jobs to sweep: a new job may be listed as active before it is stored. */
const MIN_AGE_MS = 10_000
const HOUR_MS = 60 * 60 * 1000
const CLOSE_INTERVAL_MS = 10_000

interface SweepGenerationJobsDeps {
  generationJobs: GenerationJobRepository
  producer: Producer
  aggregator: JobAggregator
  log: Logger
}

/** Sweeps all active jobs. A slot that is in the queue does not change. */
export async function sweepGenerationJobs({
  generationJobs,
  producer,
  aggregator,
  log,
}: SweepGenerationJobsDeps): Promise<void> {
  await sweepEach(log, await generationJobs.listActive(), async ({ id, since }) => {
    const job = await generationJobs.get(id)
    const ageMs = redisNow() - since
    if (!job || !isActive(job.status)) {
      if (ageMs > MIN_AGE_MS) await generationJobs.markInactive(id)
    } else if (ageMs > MAX_ACTIVE_MS) {
      await aggregator.finalize(id, 'failed', `It was not done after ${MAX_ACTIVE_MS / HOUR_MS} hours`)
    } else {
      await enqueueSlotJobs(producer, job)
    }
  })
}

interface CloseIdleModelsDeps {
  generationJobs: GenerationJobRepository
  modelClients: ModelClients
}

/** Closes the clients of ended jobs from time to time. It is a local timer because clients belong to this process. */
export function startClosingIdleModels(
  deps: CloseIdleModelsDeps,
  onError: (error: unknown) => void,
): { close(): void } {
  const timer = setInterval(() => void closeIdleModels(deps).catch(onError), CLOSE_INTERVAL_MS)
  return { close: () => clearInterval(timer) }
}

export async function closeIdleModels({ generationJobs, modelClients }: CloseIdleModelsDeps): Promise<void> {
  // before the active jobs are listed, so that clients of jobs that start after this are not closed
  const idle = modelClients.listJobIds()
  if (idle.size === 0) return
  for (const { id } of await generationJobs.listActive()) idle.delete(id)
  for (const id of idle) modelClients.close(id)
}
