/** What the routes are given: the parts of the service, and an app whose schemas are zod. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Redis } from 'ioredis'
import type { BatchDelivery } from '../src/batches/delivery.ts'
import type { Dumps } from '../src/dumps/dumps.ts'
import type { Exports } from '../src/dumps/exports/export.ts'
import type { Engine } from '../src/engine/engine.ts'
import type { Ladders } from '../src/engine/ladders.ts'
import type { ExternalCompletions } from '../src/evals/brought.ts'
import type { Collections } from '../src/evals/collection-book.ts'
import type { Evals } from '../src/evals/eval-book.ts'
import type { EvalAggregator } from '../src/evals/result-maker.ts'
import type { Suites } from '../src/evals/suites.ts'
import type { Items } from '../src/items/items.ts'
import type { Grader } from '../src/items/judge.ts'
import type { Metrics } from '../src/metrics/metrics.ts'
import type { FailedJobs } from '../src/queue/failures.ts'
import type { ItemQueue } from '../src/runs/handout.ts'
import type { RolloutSubmission } from '../src/runs/intake.ts'
import type { Checkpoints } from '../src/runs/restoring.ts'
import type { Runs } from '../src/runs/run-book.ts'
import type { StepItems } from '../src/runs/step-items.ts'
import type { BatchRepository } from '../src/store/batches.ts'
import type { GroupCompletionListener } from '../src/store/completions.ts'
import type { GroupRepository } from '../src/store/groups.ts'
import type { Idempotency } from '../src/store/idempotency.ts'
import type { RedisKeys } from '../src/store/keys.ts'
import type { SampleRepository } from '../src/store/samples.ts'
import type { GenerationJobRepository } from '../src/store/samplings.ts'
import type { ConcurrencyQuota } from '../src/store/seats.ts'
import type { TaskStatisticsRecorder } from '../src/store/task-figures.ts'
import type { TaskCatalog } from '../src/tasks/catalogue.ts'

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

export type App = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, ZodTypeProvider>
