/** The HTTP application: the server with its plugins, and all routes. It has no port yet. */
import { addRoutes } from '../../routes/index.ts'
import { OPERATION_EXAMPLES } from '../../routes/openapi-examples.ts'
import type { App } from '../http/app.ts'
import { createHttpServer, type HttpOptions } from '../http/server.ts'
import type { ApiService } from './compose.ts'

export function createApp({ platform, features }: ApiService, options: HttpOptions = {}): Promise<App> {
  const { runs } = features.runs
  return createHttpServer(
    {
      log: platform.log,
      metricsRecorder: platform.recorder,
      clientMemory: platform.clientMemory,
      isQuietRun: async (run) => (await runs.require(run)).settings.suppress_base_env_logs,
      operationExamples: OPERATION_EXAMPLES,
      addRoutes: (app) => addRoutes(app, features),
    },
    options,
  )
}
