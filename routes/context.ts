/** What the routes are given: the parts of the service. */

import type { Redis } from 'ioredis'
import type { Engine } from '../src/engine/engine.ts'
import type { BatchDelivery } from '../src/features/batches/batch-delivery.ts'
import type { BatchRepository } from '../src/features/batches/repository.ts'
import type { Dumps } from '../src/features/dumps/dumps.ts'
import type { Exports } from '../src/features/dumps/exports/export.ts'
import type { Collections } from '../src/features/evals/collections.ts'
import type { ConcurrencyQuota } from '../src/features/evals/concurrency-quota.ts'
import type { EvalAggregator } from '../src/features/evals/eval-aggregator.ts'
import type { Evals } from '../src/features/evals/evals.ts'
import type { ExternalCompletions } from '../src/features/evals/external-completions.ts'
import type { GenerationJobRepository } from '../src/features/evals/generation-job-repository.ts'
import type { SampleRepository } from '../src/features/evals/sample-repository.ts'
import type { Suites } from '../src/features/evals/suites.ts'
import type { Items } from '../src/features/items/items.ts'
import type { Metrics } from '../src/features/operations/metrics.ts'
import type { GroupCompletionListener } from '../src/features/rollouts/group-completion-listener.ts'
import type { GroupRepository } from '../src/features/rollouts/repository.ts'
import type { RolloutSubmission } from '../src/features/rollouts/rollout-submission.ts'
import type { Checkpoints } from '../src/features/runs/checkpoints.ts'
import type { ItemQueue } from '../src/features/runs/item-queue.ts'
import type { Runs } from '../src/features/runs/runs.ts'
import type { StepItems } from '../src/features/runs/step-items.ts'
import type { Ladders } from '../src/features/tasks/ladders.ts'
import type { TaskCatalog } from '../src/features/tasks/task-catalog.ts'
import type { TaskStatisticsRecorder } from '../src/features/tasks/task-statistics.ts'
import type { Grader } from '../src/grading/grader.ts'
import type { FailedJobs } from '../src/platform/queue/failed-jobs.ts'
import type { Idempotency } from '../src/platform/redis/idempotency.ts'
import type { RedisKeys } from '../src/platform/redis/keys.ts'

export interface Services {
  engine: Engine
  redis: Redis
  redisKeys: RedisKeys
  tasks: TaskCatalog
  ladders: Ladders
  taskStatistics: TaskStatisticsRecorder
  items: Items
  grader: Grader
  runs: Runs
  itemQueue: ItemQueue
  stepItems: StepItems
  checkpoints: Checkpoints
  rolloutSubmission: RolloutSubmission
  groups: GroupRepository
  dumps: Dumps
  exports: Exports
  metrics: Metrics
  batches: BatchRepository
  groupNotifications: GroupCompletionListener
  failedJobs: FailedJobs
  batchDelivery: BatchDelivery
  generationJobs: GenerationJobRepository
  samples: SampleRepository
  concurrencyQuota: ConcurrencyQuota
  suites: Suites
  evalAggregator: EvalAggregator
  evals: Evals
  externalCompletions: ExternalCompletions
  collections: Collections
  idempotency: Idempotency
}
