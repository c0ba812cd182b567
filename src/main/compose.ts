/** Creates the platform, the engine and the features of a process, in the order in which each builds on the earlier. */
import type { Logger } from 'pino'
import { createEngine, listTaskPlaces, watchTasks } from '../engine/create-engine.ts'
import type { Engine } from '../engine/engine.ts'
import { type AdaptersFeature, createAdapters } from '../features/adapters/index.ts'
import { type BatchesFeature, createBatches } from '../features/batches/index.ts'
import { createBatchKeys } from '../features/batches/repository.ts'
import { writeDumpJob } from '../features/dumps/dumps.ts'
import { createDumps, type DumpsFeature } from '../features/dumps/index.ts'
import { generateSamplesJob } from '../features/evals/concurrency.ts'
import { createEvals, type EvalsFeature } from '../features/evals/index.ts'
import { createItems, type ItemsFeature } from '../features/items/index.ts'
import { createOperations, type OperationsFeature } from '../features/operations/index.ts'
import { createRescores, type RescoresFeature } from '../features/rescores/index.ts'
import { rescoreJob } from '../features/rescores/rescores.ts'
import { createRewinds, type RewindsFeature } from '../features/rewinds/index.ts'
import { createRollouts, type RolloutsFeature } from '../features/rollouts/index.ts'
import { scoreGroupJob } from '../features/rollouts/jobs.ts'
import { createRuns, type RunsFeature } from '../features/runs/index.ts'
import { prefetchItemsJob, removeEpochJob } from '../features/runs/jobs.ts'
import { createTasks, type TasksFeature } from '../features/tasks/index.ts'
import { createGrading } from '../grading/grader.ts'
import { Closers } from '../platform/closers.ts'
import type { ServerConfig } from '../platform/environment.ts'
import { createPlatform, type Platform } from '../platform/platform.ts'
import type { ProcessRole } from '../platform/process-state.ts'
import type { JobDefinition } from '../platform/queue/job-definition.ts'
import type { RedisConfig } from '../platform/redis/connect.ts'
import type { Tracing } from '../platform/telemetry/tracing.ts'

/** The features that API processes and workers both need. */
interface SharedFeatures {
  tasks: TasksFeature
  items: ItemsFeature
  runs: RunsFeature
  rollouts: RolloutsFeature
  rescores: RescoresFeature
  evals: EvalsFeature
  dumps: DumpsFeature
  adapters: AdaptersFeature
  operations: OperationsFeature
}

export interface WorkerService {
  platform: Platform
  engine: Engine
  features: SharedFeatures
  /** Ends the waits of requests. Call it when the HTTP server begins to close. */
  drain: () => void
  close(): Promise<void>
}

export interface ApiService extends WorkerService {
  features: SharedFeatures & { batches: BatchesFeature; rewinds: RewindsFeature }
}

interface ServiceOptions {
  config: ServerConfig
  redis: RedisConfig
  /** The path of the Python interpreter that has the library. */
  python: string
  /** One that services share, and that its owner closes. Default: one of its own. */
  engine?: Engine | undefined
  log: Logger
  /** Default: none. */
  tracing?: Tracing | undefined
  /** Prometheus text of all processes that share the port. */
  scrapeProcessGroup?: (() => Promise<string>) | undefined
}

export function composeApi(options: ServiceOptions): ApiService {
  const service = composeShared(options, 'api')
  const { platform, features } = service
  return {
    ...service,
    features: { ...features, batches: createBatches(platform, features), rewinds: createRewinds(platform, features) },
  }
}

export function composeWorker(options: ServiceOptions): WorkerService {
  return composeShared(options, 'worker')
}

function composeShared(options: ServiceOptions, role: ProcessRole): WorkerService {
  const { config, redis, python, log, tracing, scrapeProcessGroup } = options
  const closers = new Closers()
  const platform = closers.add(createPlatform(config, redis, log, role, tracing))
  closers.beforeDrain(() => platform.notifications.close())
  // A part that needs a later part receives a function, which runs once all parts exist.
  const engine: Engine = options.engine ?? closers.add(createEngine(platform, python, () => void tasks.loadRegistry()))
  if (config.WATCH_TASKS)
    closers.add(
      watchTasks(listTaskPlaces(config), () => {
        log.info('files of TASKS_PATH have changed; reading them again')
        void engine.reloadTasks()
      }),
    )
  const tasks: TasksFeature = closers.add(
    createTasks(platform, { engine, getExample: (task) => items.items.getExample(task) }),
  )
  const items = createItems(platform, { engine, tasks })
  const runs: RunsFeature = createRuns(platform, {
    engine,
    tasks,
    items,
    dumps: {
      getProgress: (run) => dumps.runDumps.getProgress(run),
      flush: (run) => dumps.runDumps.flush(run),
    },
    evals: { measure: (id, caller) => evals.evals.measure(id, caller) },
  })
  runs.epochKeyListers.push(createBatchKeys(platform.keys).listEpochKeys) // workers remove them without that feature
  const { grader } = closers.add(
    createGrading(platform, {
      engine,
      loadEntry: (recipe) => items.items.getOrCreateEntry(recipe),
      loadQuestion: async (recipe) => (await items.items.getOrCreateOne(recipe, 'score')).question,
      statistics: tasks.statistics,
    }),
  )
  const rollouts = createRollouts(platform, { engine, grader, tasks, items, runs })
  const rescores = createRescores(platform, { grader, tasks, items, runs, rollouts })
  const evals: EvalsFeature = createEvals(platform, { engine, grader, tasks, items, runs, rollouts })
  const dumps = createDumps(platform, { items, runs, rollouts })
  const adapters = closers.add(createAdapters(platform, { engine, grader, tasks, items, runs, rollouts, evals }))
  closers.beforeDrain(() => adapters.samples.stopRetrying())
  const operations = closers.add(
    createOperations(platform, {
      engine,
      tasks,
      runs,
      rollouts,
      evals,
      dumps,
      jobDefinitions: ALL_JOBS,
      scrapeProcessGroup,
    }),
  )
  return {
    platform,
    engine,
    features: { tasks, items, runs, rollouts, rescores, evals, dumps, adapters, operations },
    drain: () => closers.drain(),
    close: () => closers.close(),
  }
}

export const ALL_JOBS: readonly JobDefinition[] = [
  scoreGroupJob,
  writeDumpJob,
  generateSamplesJob,
  prefetchItemsJob,
  removeEpochJob,
  rescoreJob,
]
