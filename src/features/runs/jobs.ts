/** The jobs of runs. */
import { z } from 'zod'
import type { JobDefinition } from '../../platform/queue/job-definition.ts'
import type { Schedule } from '../../platform/queue/schedules.ts'

const PrefetchItemsJobData = z.strictObject({ run: z.string(), epoch: z.int() })
export type PrefetchItemsJobData = z.infer<typeof PrefetchItemsJobData>

/** Makes a run's items ahead of demand. The next request for items adds the job again. */
export const prefetchItemsJob: JobDefinition<PrefetchItemsJobData> = {
  name: 'prefetch-items',
  data: PrefetchItemsJobData,
  attempts: 1,
  backoffMs: 500,
  discardFailures: true,
}

/**
 * Removes the keys of a deleted run, or those of its epoch before a restore. The sweep adds the job again until the
 * keys are gone.
 */
export const removeEpochJob: JobDefinition<{ name: string; epoch: number }> = {
  name: 'remove-epoch',
  data: z.strictObject({ name: z.string(), epoch: z.int() }),
  attempts: 6,
  backoffMs: 500,
  discardFailures: true,
  lockMs: 5_000,
}

/** Adds lost jobs of ended epochs again. */
export const sweepEpochsSchedule: Schedule = { name: 'sweep-epochs', everyMs: 10_000 }
