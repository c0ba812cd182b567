/** All routes, each with the feature that it serves. */

import { addDatasetRoutes } from '../src/features/adapters/dataset/routes.ts'
import { type AdaptersFeature, REWARD_WIRES } from '../src/features/adapters/index.ts'
import { addRewardRoutes } from '../src/features/adapters/reward-route.ts'
import type { BatchesFeature } from '../src/features/batches/index.ts'
import type { DumpsFeature } from '../src/features/dumps/index.ts'
import type { EvalsFeature } from '../src/features/evals/index.ts'
import type { OperationsFeature } from '../src/features/operations/index.ts'
import type { RescoresFeature } from '../src/features/rescores/index.ts'
import type { RewindsFeature } from '../src/features/rewinds/index.ts'
import type { RolloutsFeature } from '../src/features/rollouts/index.ts'
import type { RunsFeature } from '../src/features/runs/index.ts'
import type { TasksFeature } from '../src/features/tasks/index.ts'
import type { App } from '../src/http/app.ts'
import { addBatchRoutes } from './batches.ts'
import { addCallerRoutes } from './caller.ts'
import { addCheckpointRoutes } from './checkpoints.ts'
import { addCollectionRoutes } from './collections.ts'
import { addDemoRoutes, type StartDemo } from './demo.ts'
import { addDumpRoutes, addExportRoutes } from './dumps.ts'
import { addEvalCompletionRoutes } from './eval-completions.ts'
import { addEvalSampleRoutes } from './eval-samples.ts'
import { addEvalRoutes } from './evals.ts'
import { addGroupRoutes } from './groups.ts'
import { addItemRoutes, addKnownItemRoutes } from './items.ts'
import { addJobRoutes } from './jobs.ts'
import { addOverviewRoutes } from './overview.ts'
import { addMetricsRoutes, addProbeRoutes } from './probes.ts'
import { addRescoreRoutes } from './rescores.ts'
import { addRolloutRoutes } from './rollouts.ts'
import { addRunHistoryRoutes } from './run-history.ts'
import { addRunMetricsRoutes } from './run-metrics.ts'
import { addRunStepRoutes } from './run-steps.ts'
import { addRunChangeRoutes, addRunRoutes } from './runs.ts'
import { addScoreRoutes } from './score.ts'
import { addTaskRoutes } from './tasks.ts'

interface RoutedFeatures {
  tasks: TasksFeature
  runs: RunsFeature
  rollouts: RolloutsFeature
  rescores: RescoresFeature
  batches: BatchesFeature
  rewinds: RewindsFeature
  evals: EvalsFeature
  dumps: DumpsFeature
  adapters: AdaptersFeature
  operations: OperationsFeature
  startDemo: StartDemo
}

export function addRoutes(
  app: App,
  { tasks, runs, rollouts, rescores, batches, rewinds, evals, dumps, adapters, operations, startDemo }: RoutedFeatures,
): void {
  addTaskRoutes(app, tasks)
  addItemRoutes(app, runs)
  addKnownItemRoutes(app, runs)
  addScoreRoutes(app, rollouts)
  addRolloutRoutes(app, rollouts)
  addRunRoutes(app, runs)
  addRunChangeRoutes(app, runs)
  addRunHistoryRoutes(app, runs)
  addRunStepRoutes(app, runs, rewinds)
  addRunMetricsRoutes(app, runs)
  addCheckpointRoutes(app, runs)
  addDemoRoutes(app, startDemo)
  addGroupRoutes(app, rollouts)
  addRescoreRoutes(app, rescores)
  addBatchRoutes(app, batches)
  addJobRoutes(app, operations)
  addEvalRoutes(app, evals)
  addEvalSampleRoutes(app, evals)
  addEvalCompletionRoutes(app, evals)
  addCollectionRoutes(app, evals)
  addDumpRoutes(app, dumps)
  addExportRoutes(app, dumps)
  addAdapterRoutes(app, adapters)
  addProbeRoutes(app, operations)
  addCallerRoutes(app)
  addOverviewRoutes(app, operations)
  addMetricsRoutes(app, operations)
}

function addAdapterRoutes(app: App, adapters: AdaptersFeature): void {
  for (const wire of REWARD_WIRES) addRewardRoutes(app, adapters, wire)
  addDatasetRoutes(app, adapters)
}
