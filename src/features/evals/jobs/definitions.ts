/** Defines the jobs and schedules of evals and collections. */
import { z } from 'zod'
import type { JobDefinition } from '../../../platform/queue/job-definition.ts'
import type { Schedule } from '../../../platform/queue/schedules.ts'

/** `job` is the ID of an eval or collection, `slot` the index of one of its concurrent requests. */
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

/** Adds lost jobs of active evals and collections again, and ends those that take too long. */
export const sweepGenerationJobsSchedule: Schedule = { name: 'sweep-generation-jobs', everyMs: 10_000 }
