/** Runs: settings, the sequence of items, the curriculum and checkpoints of training runs. */
import type { Engine } from '../../engine/engine.ts'
import type { Platform } from '../../platform/platform.ts'
import type { BackgroundWork } from '../../platform/queue/background-work.ts'
import { consumeJob } from '../../platform/queue/job-definition.ts'
import type { ItemsFeature } from '../items/index.ts'
import type { TasksFeature } from '../tasks/index.ts'
import { Checkpoints } from './checkpoint/checkpoints.ts'
import { CheckpointRepository } from './checkpoint/repository.ts'
import type { RunEvals } from './curriculum/curriculum-start.ts'
import { FrontierCurriculum } from './curriculum/frontier-curriculum.ts'
import { FrontierRepository } from './curriculum/frontier-store.ts'
import { TaskFrontiers } from './curriculum/task-frontiers.ts'
import { EpochRemoval } from './epoch-removal.ts'
import { EpochRepository } from './epochs.ts'
import { ItemRequests } from './item-requests.ts'
import { createPrefetchItemsProcessor } from './jobs/prefetch-items.ts'
import { createRemoveEpochProcessor } from './jobs/remove-epoch.ts'
import { prefetchItemsJob, removeEpochJob, sweepEpochsSchedule } from './jobs.ts'
import type { ListEpochKeys } from './keys.ts'
import { MetricsRepository } from './metrics/repository.ts'
import { RunMetrics } from './metrics/run-metrics.ts'
import { RecreatedRuns } from './recreated-runs.ts'
import { RunRepository } from './repository.ts'
import type { RunDumps } from './run-dumps.ts'
import { RunRequests } from './run-requests.ts'
import { Runs } from './runs.ts'
import { ItemPrefetcher } from './sequence/item-prefetcher.ts'
import { ItemQueue } from './sequence/item-queue.ts'
import { PositionRepository } from './sequence/positions.ts'
import { RequestedPositions } from './sequence/requested.ts'

/** Number of runs whose items one worker generates concurrently. */
const PREFETCH_CONCURRENCY = 16
/** Number of epochs whose keys one worker removes concurrently. */
const REMOVAL_CONCURRENCY = 2

interface RunsFeatureDeps {
  engine: Engine
  tasks: TasksFeature
  items: ItemsFeature
  dumps: RunDumps
  evals: RunEvals
  /** Keys that later features keep for a run, to be removed with it. */
  laterKeys: readonly ListEpochKeys[]
}

export interface RunsFeature {
  runs: Runs
  repository: RunRepository
  itemQueue: ItemQueue
  frontier: FrontierCurriculum
  checkpoints: Checkpoints
  itemRequests: ItemRequests
  runRequests: RunRequests
  runMetrics: RunMetrics
  createWork(): BackgroundWork
}

export function createRuns(
  { redis, keys, producer, recorder, idempotency, log }: Platform,
  {
    engine,
    tasks: { tasks, ladders, cards },
    items: { items, evalQuestions },
    dumps,
    evals,
    laterKeys,
  }: RunsFeatureDeps,
): RunsFeature {
  const repository = new RunRepository(redis, keys)
  const positions = new PositionRepository(redis, keys)
  const epochs = new EpochRepository(redis, keys, laterKeys)
  const removal = new EpochRemoval({ epochs, runs: repository, producer, log })
  const recreated = new RecreatedRuns({ repository, log })
  const frontiers = new TaskFrontiers(ladders, cards)
  const frontier = new FrontierCurriculum({
    repository: new FrontierRepository(redis, keys),
    runs: repository,
    frontiers,
    tasks,
    log,
  })
  const runs = new Runs({
    repository,
    recreated,
    epochs,
    removal,
    positions,
    frontier,
    frontiers,
    tasks,
    dumps,
    evals,
    engine,
  })
  const prefetcher = new ItemPrefetcher({
    runs: repository,
    positions,
    items,
    evalQuestions,
    tasks,
    ladders,
    frontiers,
    log,
  })
  const itemQueue = new ItemQueue({
    engine,
    runs: repository,
    items,
    positions,
    requested: new RequestedPositions(redis, keys),
    prefetcher,
    frontier,
    producer,
  })
  const checkpoints = new Checkpoints({
    runs,
    repository: new CheckpointRepository(redis, keys, { runs: repository, epochs }),
    removal,
    frontier,
    tasks,
    engineVersion: engine.version,
  })
  return {
    runs,
    repository,
    itemQueue,
    frontier,
    itemRequests: new ItemRequests({ items, runs, itemQueue, recorder, idempotency }),
    runRequests: new RunRequests({ runs, checkpoints, itemQueue }),
    runMetrics: new RunMetrics({ runs, repository: new MetricsRepository(redis, keys) }),
    checkpoints,
    createWork: () => ({
      consumers: [
        consumeJob(prefetchItemsJob, PREFETCH_CONCURRENCY, createPrefetchItemsProcessor({ runs, prefetcher })),
        consumeJob(removeEpochJob, REMOVAL_CONCURRENCY, createRemoveEpochProcessor({ epochs })),
      ],
      scheduledTasks: [{ ...sweepEpochsSchedule, run: () => removal.sweep() }],
    }),
  }
}
