/** The HTTP server with the routes of all features. */
import type { FastifyBaseLogger } from 'fastify'
import { addBatchRoutes } from '../../routes/batches.ts'
import { addCheckpointRoutes } from '../../routes/checkpoints.ts'
import { addCollectionRoutes } from '../../routes/collections.ts'
import type { Services } from '../../routes/context.ts'
import { addDumpRoutes } from '../../routes/dumps.ts'
import { addEvalSampleRoutes } from '../../routes/eval-samples.ts'
import { addEvalRoutes } from '../../routes/evals.ts'
import { addExportRoutes } from '../../routes/exports.ts'
import { addGroupRoutes } from '../../routes/groups.ts'
import { addItemRoutes } from '../../routes/items.ts'
import { addJobRoutes } from '../../routes/jobs.ts'
import { addMetricsRoutes } from '../../routes/metrics.ts'
import { OPERATION_EXAMPLES } from '../../routes/openapi-examples.ts'
import { addOperationRoutes } from '../../routes/operations.ts'
import { addOverviewRoutes } from '../../routes/overview.ts'
import { addRolloutRoutes } from '../../routes/rollouts.ts'
import { addRunRoutes } from '../../routes/runs.ts'
import { addScoreRoutes } from '../../routes/score.ts'
import { addTaskRoutes } from '../../routes/tasks.ts'
import type { App } from '../http/app.ts'
import { createHttpServer, type HttpOptions } from '../http/server.ts'

const ROUTES = [
  addTaskRoutes,
  addItemRoutes,
  addScoreRoutes,
  addRolloutRoutes,
  addRunRoutes,
  addCheckpointRoutes,
  addGroupRoutes,
  addBatchRoutes,
  addJobRoutes,
  addEvalRoutes,
  addEvalSampleRoutes,
  addCollectionRoutes,
  addDumpRoutes,
  addExportRoutes,
  addOperationRoutes,
  addOverviewRoutes,
  addMetricsRoutes,
]

export function buildApp(services: Services, log: FastifyBaseLogger, options: HttpOptions = {}): Promise<App> {
  return createHttpServer(
    {
      log,
      metricsRecorder: services.metrics.recorder,
      isQuietRun: async (run) => (await services.runs.require(run)).settings.suppress_base_env_logs,
      operationExamples: OPERATION_EXAMPLES,
      addRoutes: (app) => {
        for (const add of ROUTES) add(app, services)
      },
    },
    options,
  )
}
