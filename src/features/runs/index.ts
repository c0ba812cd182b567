/** Runs: settings, the sequence of items, the curriculum and checkpoints of training runs. */
import type { Engine } from '../../engine/engine.ts'
import type { Platform } from '../../platform/platform.ts'
import { consumeJob } from '../../platform/queue/job-definition.ts'
import type { BackgroundWork } from '../../platform/queue/schedules.ts'
import type { ItemsFeature } from '../items/index.ts'
import type { TasksFeature } from '../tasks/index.ts'
import { Checkpoints } from './checkpoint/checkpoints.ts'
import { CheckpointRepository } from './checkpoint/repository.ts'
import { FrontierCurriculum } from './curriculum/frontier-curriculum.ts'
import { FrontierRepository } from './curriculum/frontier-store.ts'
import { TaskFrontiers } from './curriculum/task-frontiers.ts'
import { type EpochKeyListers, EpochRemoval, EpochRepository } from './epochs.ts'
import { RunFlow } from './flow.ts'
import { ItemRequests } from './item-requests.ts'
import {
  createPrefetchItemsProcessor,
  prefetchItemsJob,
  removeEpochJob,
  repairRunIndexSchedule,
  sweepEpochsSchedule,
  sweepWarningsSchedule,
} from './jobs.ts'
import { RunMarks } from './marks.ts'
import { MetricsRepository, RunMetrics } from './metrics.ts'
import { RunRepository } from './repository.ts'
import { RunIndex } from './run-index.ts'
import { RunPages } from './run-pages.ts'
import { RecreatedRuns, Runs } from './runs.ts'
import { ItemDraws } from './sequence/item-draws.ts'
import { ItemPrefetcher } from './sequence/item-prefetcher.ts'
import { ItemQueue } from './sequence/item-queue.ts'
import { PositionRepository } from './sequence/positions.ts'
import { RequestedPositions } from './sequence/requested.ts'
import { SettingsRules } from './settings.ts'
import { TaskStatistics } from './task-statistics.ts'
import type { RunDumps, RunEvals } from './types.ts'
import { RunViews } from './views.ts'

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
}

export type RunsFeature = ReturnType<typeof createRuns>

export function createRuns(
  { redis, keys, producer, recorder, notifications, idempotency, log }: Platform,
  { engine, tasks: { tasks, ladders, cards }, items: { items, evalQuestions }, dumps, evals }: RunsFeatureDeps,
) {
  const epochKeyListers: EpochKeyListers = []
  const index = new RunIndex(redis, keys)
  const repository = new RunRepository(redis, keys)
  const taskStatistics = new TaskStatistics(redis, keys)
  const metrics = new MetricsRepository(redis, keys)
  const positions = new PositionRepository(redis, keys)
  const epochs = new EpochRepository(redis, keys, epochKeyListers)
  const removal = new EpochRemoval({ epochs, runs: repository, index, producer, log })
  const recreated = new RecreatedRuns({ repository, log })
  const rules = new SettingsRules({ tasks, engine })
  const frontiers = new TaskFrontiers(ladders, cards)
  const frontier = new FrontierCurriculum({
    repository: new FrontierRepository(redis, keys),
    runs: repository,
    frontiers,
    tasks,
    log,
  })
  const marks = new RunMarks({ redis, keys, index, taskStatistics, log })
  const runs = new Runs({
    marks,
    repository,
    index,
    epochs,
    removal,
    recreated,
    frontiers,
    rules,
    tasks,
    dumps,
    evals,
    producer,
    idempotency,
  })
  const prefetcher = new ItemPrefetcher({
    runs: repository,
    positions,
    items,
    evalQuestions,
    draws: new ItemDraws({ tasks, ladders, frontiers }),
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
    notifications,
  })
  const checkpoints = new Checkpoints({
    runs,
    repository: new CheckpointRepository(redis, keys, epochs),
    removal,
    rules,
    frontier,
    tasks,
    producer,
    engineVersion: engine.version,
  })
  return {
    runs,
    marks,
    views: new RunViews({ runs, marks, repository, taskStatistics, positions, frontier, dumps, engine }),
    pages: new RunPages({ redis, runs, index, repository, taskStatistics, metrics, engine }),
    rules,
    repository,
    taskStatistics,
    index,
    itemQueue,
    frontier,
    checkpoints,
    itemRequests: new ItemRequests({ items, runs, itemQueue, positions, recorder, idempotency }),
    flow: new RunFlow(redis, keys, runs),
    runMetrics: new RunMetrics({ runs, repository: metrics }),
    epochs,
    /** Later features add the keys that they keep for a run here, so that these are removed with it. */
    epochKeyListers,
    createWork: (): BackgroundWork => ({
      consumers: [
        consumeJob(prefetchItemsJob, PREFETCH_CONCURRENCY, createPrefetchItemsProcessor({ runs, prefetcher })),
        consumeJob(removeEpochJob, REMOVAL_CONCURRENCY, (epoch, { signal }) => epochs.remove(epoch, signal)),
      ],
      scheduledTasks: [
        { ...sweepEpochsSchedule, run: () => removal.sweep() },
        { ...sweepWarningsSchedule, run: () => marks.sweepWarnings((name) => runs.get(name)) },
        { ...repairRunIndexSchedule, run: () => removal.repairIndex() },
      ],
    }),
  }
}
