/** The jobs of runs. */
import { z } from 'zod'
import type { JobDefinition } from '../../../platform/queue/job-definition.ts'

const PrefetchItemsJobData = z.strictObject({ run: z.string(), epoch: z.int() })
export type PrefetchItemsJobData = z.infer<typeof PrefetchItemsJobData>

/** Makes a run's items ahead of demand. The next request for items adds it again. */
export const prefetchItemsJob: JobDefinition<PrefetchItemsJobData> = {
  name: 'prefetch-items',
  data: PrefetchItemsJobData,
  attempts: 1,
  backoffMs: 500,
  discardFailures: true,
}
