/** What a worker-only process answers on WORKER_PORT: whether it lives, whether it can work, and its metrics. */
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import type { App, Services } from '../routes/context.ts'
import { metrics } from '../routes/metrics.ts'
import { operations } from '../routes/operations.ts'
import { followKeyFile, openKeyRing } from './access/key-ring.ts'
import { isLoopback } from './access/loopback.ts'
import type { Config } from './config.ts'
import { addCallers } from './plugins/callers.ts'
import { addGuard } from './plugins/guard.ts'
import { PATIENCE, patient } from './plugins/patience.ts'
import { addProblems } from './plugins/problems.ts'
import { addValidation } from './plugins/validation.ts'

/** A worker that cannot listen works all the same: on one machine several may find the port taken. */
export async function openProbes(
  services: Services,
  config: Pick<Config, 'HOST' | 'WORKER_PORT' | 'API_KEYS' | 'API_KEYS_FILE'>,
  log: FastifyBaseLogger,
): Promise<App> {
  const app = Fastify({
    ...patient(PATIENCE),
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
  }) as unknown as App // the type provider is a matter of types alone
  const keys = openKeyRing(config)
  if (keys) {
    const unfollow = followKeyFile(keys, config, log)
    app.addHook('onClose', async () => unfollow())
  }
  addCallers(app, keys, [])
  addGuard(app)
  addValidation(app)
  addProblems(app)
  for (const add of [operations, metrics]) add(app, services)
  const host = keys || isLoopback(config.HOST) ? config.HOST : '127.0.0.1'
  if (host !== config.HOST) log.warn(`probes are on ${host} alone: without API_KEYS nothing listens on ${config.HOST}`)
  try {
    await app.listen({ host, port: config.WORKER_PORT })
  } catch (err) {
    log.warn({ err }, `no probes: cannot listen on ${host}:${config.WORKER_PORT}; set WORKER_PORT to a free port`)
  }
  return app
}
