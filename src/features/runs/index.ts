/** Runs: settings, the sequence of items, the curriculum and checkpoints of training runs. */
import type { Engine } from '../../engine/engine.ts'
import type { Platform } from '../../platform/platform.ts'
import type { BackgroundWork } from '../../platform/queue/background-work.ts'
import { consumeJob } from '../../platform/queue/job-definition.ts'
import type { ItemsFeature } from '../items/index.ts'
import type { TasksFeature } from '../tasks/index.ts'
import { CheckpointRepository } from './checkpoint-repository.ts'
import { Checkpoints } from './checkpoints.ts'
import { ItemPrefetcher } from './item-prefetcher.ts'
import { ItemQueue } from './item-queue.ts'
import { ItemRequests } from './item-requests.ts'
import { prefetchItemsJob } from './jobs/definitions.ts'
import { createPrefetchItemsProcessor } from './jobs/prefetch-items.ts'
import { PositionRepository } from './position-repository.ts'
import { RunRepository } from './repository.ts'
import type { RunDumps } from './run-dumps.ts'
import { Runs } from './runs.ts'
import { StepItemRepository } from './step-item-repository.ts'
import { StepItems } from './step-items.ts'

/** Runs whose items one worker generates at once. */
const PREFETCH_CONCURRENCY = 16

interface RunsFeatureDeps {
  engine: Engine
  tasks: TasksFeature
  items: ItemsFeature
  dumps: RunDumps
}

export interface RunsFeature {
  runs: Runs
  repository: RunRepository
  itemQueue: ItemQueue
  checkpoints: Checkpoints
  itemRequests: ItemRequests
  createWork(): BackgroundWork
}

export function createRuns(
  { redis, keys, producer, recorder, idempotency, log }: Platform,
  { engine, tasks: { tasks }, items: { items }, dumps }: RunsFeatureDeps,
): RunsFeature {
  const repository = new RunRepository(redis, keys)
  const positions = new PositionRepository(redis, keys)
  const steps = new StepItemRepository(redis, keys)
  const runs = new Runs({ repository, positions, tasks, dumps, engine })
  const prefetcher = new ItemPrefetcher({ runs: repository, positions, steps, items, tasks, log })
  const itemQueue = new ItemQueue({ engine, runs: repository, items, positions, prefetcher, producer })
  const stepItems = new StepItems({ engine, runs, steps, items, prefetcher })
  return {
    runs,
    repository,
    itemQueue,
    itemRequests: new ItemRequests({ items, runs, itemQueue, stepItems, recorder, idempotency }),
    checkpoints: new Checkpoints(runs, new CheckpointRepository(redis, keys, repository), engine.version),
    createWork: () => ({
      consumers: [
        consumeJob(prefetchItemsJob, PREFETCH_CONCURRENCY, createPrefetchItemsProcessor({ runs, prefetcher })),
      ],
    }),
  }
}
