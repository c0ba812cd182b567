/** What the routes are given: the parts of the service, and an app whose schemas are zod. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Redis } from 'ioredis'
import type { Delivery } from '../src/batches/delivery.ts'
import type { Dumps } from '../src/dumps/dumps.ts'
import type { Exports } from '../src/dumps/exports/export.ts'
import type { Engine } from '../src/engine/engine.ts'
import type { Ladders } from '../src/engine/ladders.ts'
import type { Brought } from '../src/evals/brought.ts'
import type { CollectionBook } from '../src/evals/collection-book.ts'
import type { EvalBook } from '../src/evals/eval-book.ts'
import type { ResultMaker } from '../src/evals/result-maker.ts'
import type { Suites } from '../src/evals/suites.ts'
import type { Items } from '../src/items/items.ts'
import type { Judge } from '../src/items/judge.ts'
import type { Metrics } from '../src/metrics/metrics.ts'
import type { Failures } from '../src/queue/failures.ts'
import type { Handout } from '../src/runs/handout.ts'
import type { Intake } from '../src/runs/intake.ts'
import type { Restoring } from '../src/runs/restoring.ts'
import type { RunBook } from '../src/runs/run-book.ts'
import type { StepItems } from '../src/runs/step-items.ts'
import type { Batches } from '../src/store/batches.ts'
import type { Completions } from '../src/store/completions.ts'
import type { Groups } from '../src/store/groups.ts'
import type { Idempotency } from '../src/store/idempotency.ts'
import type { Keys } from '../src/store/keys.ts'
import type { Samples } from '../src/store/samples.ts'
import type { Samplings } from '../src/store/samplings.ts'
import type { Seats } from '../src/store/seats.ts'
import type { TaskFigures } from '../src/store/task-figures.ts'
import type { TaskCatalogue } from '../src/tasks/catalogue.ts'

export interface Services {
  engine: Engine
  redis: Redis
  keys: Keys
  tasks: TaskCatalogue
  ladders: Ladders
  figures: TaskFigures
  items: Items
  judge: Judge
  runs: RunBook
  handout: Handout
  stepItems: StepItems
  restoring: Restoring
  intake: Intake
  groups: Groups
  dumps: Dumps
  exports: Exports
  metrics: Metrics
  batches: Batches
  completions: Completions
  failures: Failures
  delivery: Delivery
  samplings: Samplings
  samples: Samples
  seats: Seats
  suites: Suites
  results: ResultMaker
  evals: EvalBook
  brought: Brought
  collections: CollectionBook
  idempotency: Idempotency
}

export type App = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, ZodTypeProvider>
