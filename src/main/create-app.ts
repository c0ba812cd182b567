/** Creates the HTTP applications: server, plugins and all routes. They do not listen yet. */
import { addRoutes } from '../../routes/index.ts'
import { createDemos } from '../demo/demos.ts'
import { addOrsRoutes } from '../features/adapters/ors/routes.ts'
import type { App } from '../http/app.ts'
import { createHttpServer, type HttpOptions } from '../http/server.ts'
import type { ApiService } from './compose.ts'

export function createApp({ platform, features, drain }: ApiService, options: HttpOptions = {}): Promise<App> {
  const { runs, itemRequests } = features.runs
  return createHttpServer(
    {
      log: platform.log,
      metricsRecorder: platform.recorder,
      transfers: platform.transfers,
      replication: platform.replication,
      tracing: platform.tracing,
      isQuietRun: async (run) => (await runs.require(run)).settings.suppress_base_env_logs,
      addRoutes(app) {
        app.addHook('preClose', async () => drain())
        addRoutes(app, { ...features, startDemo: createDemos({ app, platform, itemRequests }) })
      },
    },
    options,
  )
}

/** The application on ORS_PORT: other routes for the same callers, with the same limits. */
export function createOrsApp(
  { platform, features }: Pick<ApiService, 'platform' | 'features'>,
  options: HttpOptions = {},
): Promise<App> {
  return createHttpServer(
    {
      log: platform.log,
      metricsRecorder: platform.recorder,
      transfers: platform.transfers,
      replication: platform.replication,
      tracing: platform.tracing,
      isQuietRun: async () => true,
      addRoutes: (app) => addOrsRoutes(app, features.adapters.ors),
      pages: false,
    },
    options,
  )
}
