/** Serves liveness, readiness and metrics of a worker-only process on WORKER_PORT. */
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { addMetricsRoutes, addProbeRoutes } from '../../routes/probes.ts'
import type { OperationsFeature } from '../features/operations/index.ts'
import type { App } from '../http/app.ts'
import { authentication } from '../http/auth/authentication.ts'
import { authorization } from '../http/auth/authorization.ts'
import { loadKeyRing, watchKeyFile } from '../http/auth/key-ring.ts'
import { buildTimeoutOptions, DEFAULT_HTTP_TIMEOUTS } from '../http/connections/http-timeouts.ts'
import { requestAdmission } from '../http/connections/request-admission.ts'
import { securityHeaders } from '../http/cors-and-security-headers.ts'
import { errorHandling } from '../http/errors/error-handling.ts'
import { malformedPaths } from '../http/errors/malformed-requests.ts'
import { getOrCreateRequestId, requestIds } from '../http/observability/request-ids.ts'
import { rateLimit } from '../http/rate-limit.ts'
import { schemaController, validation } from '../http/validation.ts'
import type { ServerConfig } from '../platform/environment.ts'
import { isLoopback } from '../platform/loopback.ts'

/** A worker that cannot listen still runs, because several workers on one machine may compete for the port. */
export async function startProbeServer(
  operations: OperationsFeature,
  config: Pick<ServerConfig, 'HOST' | 'WORKER_PORT' | 'API_KEYS' | 'API_KEYS_FILE'>,
  log: FastifyBaseLogger,
): Promise<App> {
  const app: App = Fastify({
    ...buildTimeoutOptions(DEFAULT_HTTP_TIMEOUTS),
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: getOrCreateRequestId,
    schemaController,
    forceCloseConnections: true,
  }).withTypeProvider<ZodTypeProvider>()
  const keyRing = loadKeyRing(config)
  if (keyRing) {
    const stopWatchingKeys = watchKeyFile(keyRing, config, log)
    app.addHook('onClose', async () => stopWatchingKeys())
  }
  await app.register(requestIds)
  await app.register(securityHeaders, { corsOrigins: [] })
  await app.register(authentication, { keyRing, corsOrigins: [] })
  await app.register(rateLimit, { rateLimiter: undefined })
  await app.register(malformedPaths)
  await app.register(requestAdmission)
  await app.register(authorization)
  await app.register(validation)
  await app.register(errorHandling)
  addProbeRoutes(app, operations)
  addMetricsRoutes(app, operations)
  const host = keyRing || isLoopback(config.HOST) ? config.HOST : '127.0.0.1'
  if (host !== config.HOST)
    log.warn(`probes listen on ${host} only, because there are no API keys. Set API_KEYS to listen on ${config.HOST}`)
  try {
    await app.listen({ host, port: config.WORKER_PORT })
  } catch (err) {
    log.warn(
      { err },
      `the probe server is disabled, because ${host}:${config.WORKER_PORT} cannot be used. Set WORKER_PORT to a free port`,
    )
  }
  return app
}
