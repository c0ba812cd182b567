/** Creates the HTTP application: server, plugins and all routes. It does not listen yet. */
import { addRoutes } from '../../routes/index.ts'
import { createDemos } from '../demo/demos.ts'
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
