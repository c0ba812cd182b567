/** All job definitions of all features. */
import { writeDumpJob } from '../features/dumps/jobs/definitions.ts'
import { generateSamplesJob } from '../features/evals/request-slots.ts'
import { scoreGroupJob } from '../features/rollouts/jobs/definitions.ts'
import { prefetchItemsJob, removeEpochJob } from '../features/runs/jobs/definitions.ts'
import type { JobDefinition } from '../platform/queue/job-definition.ts'

export const ALL_JOBS: readonly JobDefinition[] = [
  scoreGroupJob,
  writeDumpJob,
  generateSamplesJob,
  prefetchItemsJob,
  removeEpochJob,
]
