/** All job definitions of all features. */
import { writeDumpJob } from '../features/dumps/jobs.ts'
import { generateSamplesJob } from '../features/evals/jobs.ts'
import { scoreGroupJob } from '../features/rollouts/jobs.ts'
import { prefetchItemsJob, removeEpochJob } from '../features/runs/jobs.ts'
import type { JobDefinition } from '../platform/queue/job-definition.ts'

export const ALL_JOBS: readonly JobDefinition[] = [
  scoreGroupJob,
  writeDumpJob,
  generateSamplesJob,
  prefetchItemsJob,
  removeEpochJob,
]
