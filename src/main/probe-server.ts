/** What a worker-only process answers on WORKER_PORT: whether it lives, whether it can work, and its metrics. */
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import type { App, Services } from '../../routes/context.ts'
import { addMetricsRoutes } from '../../routes/metrics.ts'
import { addOperationRoutes } from '../../routes/operations.ts'
import { addAuthentication } from '../http/auth/authentication.ts'
import { addAuthorization } from '../http/auth/authorization.ts'
import { loadKeyRing, watchKeyFile } from '../http/auth/key-ring.ts'
import { isLoopback } from '../http/auth/loopback.ts'
import { buildTimeoutOptions, DEFAULT_HTTP_TIMEOUTS } from '../http/connections/http-timeouts.ts'
import { addErrorHandling } from '../http/errors/error-handling.ts'
import { addValidation } from '../http/validation.ts'
import type { ServerConfig } from '../platform/config.ts'

/** A worker that cannot listen works all the same: on one machine several may find the port taken. */
export async function startProbeServer(
  services: Services,
  config: Pick<ServerConfig, 'HOST' | 'WORKER_PORT' | 'API_KEYS' | 'API_KEYS_FILE'>,
  log: FastifyBaseLogger,
): Promise<App> {
  const app = Fastify({
    ...buildTimeoutOptions(DEFAULT_HTTP_TIMEOUTS),
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
  }) as unknown as App // the type provider is a matter of types alone
  const keys = loadKeyRing(config)
  if (keys) {
    const unfollow = watchKeyFile(keys, config, log)
    app.addHook('onClose', async () => unfollow())
  }
  addAuthentication(app, keys, [])
  addAuthorization(app)
  addValidation(app)
  addErrorHandling(app)
  for (const add of [addOperationRoutes, addMetricsRoutes]) add(app, services)
  const host = keys || isLoopback(config.HOST) ? config.HOST : '127.0.0.1'
  if (host !== config.HOST) log.warn(`probes are on ${host} alone: without API_KEYS nothing listens on ${config.HOST}`)
  try {
    await app.listen({ host, port: config.WORKER_PORT })
  } catch (err) {
    log.warn({ err }, `no probes: cannot listen on ${host}:${config.WORKER_PORT}; set WORKER_PORT to a free port`)
  }
  return app
}
