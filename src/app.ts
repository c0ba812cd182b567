/** The whole HTTP application: no port, no environment. What it needs is given to it. */
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import { addBatchRoutes } from '../routes/batches.ts'
import { addCheckpointRoutes } from '../routes/checkpoint.ts'
import { addCollectionRoutes } from '../routes/collect.ts'
import type { App, Services } from '../routes/context.ts'
import { addDumpRoutes } from '../routes/dumps.ts'
import { addEvalRoutes } from '../routes/eval.ts'
import { addEvalSampleRoutes } from '../routes/eval-samples.ts'
import { OPERATION_EXAMPLES } from '../routes/examples.ts'
import { addExportRoutes } from '../routes/export.ts'
import { addGroupRoutes } from '../routes/groups.ts'
import { addItemRoutes } from '../routes/items.ts'
import { addJobRoutes } from '../routes/jobs.ts'
import { addMetricsRoutes } from '../routes/metrics.ts'
import { addOperationRoutes } from '../routes/operations.ts'
import { addOverviewRoutes } from '../routes/overview.ts'
import { addRolloutRoutes } from '../routes/rollouts.ts'
import { addRunRoutes } from '../routes/runs.ts'
import { addScoreRoutes } from '../routes/score.ts'
import { addTaskRoutes } from '../routes/tasks.ts'
import type { KeyRing } from './access/key-ring.ts'
import type { RateLimiter } from './access/meter.ts'
import { addJsonBodyParser } from './plugins/bodies.ts'
import { addBodyMemoryLimit } from './plugins/body-room.ts'
import { addAuthentication } from './plugins/callers.ts'
import { addCommonResponses } from './plugins/common-answers.ts'
import { addRequestDecompression } from './plugins/compressed-bodies.ts'
import { addConnectionManagement } from './plugins/connections.ts'
import { addDashboard } from './plugins/dashboard.ts'
import { addAuthorization } from './plugins/guard.ts'
import { LazyLogger } from './plugins/lazy-log.ts'
import { addRateLimit } from './plugins/limits.ts'
import { addHttpMetrics } from './plugins/metrics.ts'
import { addOpenapi } from './plugins/openapi.ts'
import { addSecurityHeaders } from './plugins/pages.ts'
import { buildTimeoutOptions, DEFAULT_HTTP_TIMEOUTS, type HttpTimeouts } from './plugins/patience.ts'
import { addHostAndExpectHandling, PERMISSIVE_HTTP_OPTIONS } from './plugins/plain-http.ts'
import { addErrorHandling } from './plugins/problems.ts'
import { addRequestIds, getOrCreateRequestId } from './plugins/request-ids.ts'
import { addRequestLog } from './plugins/request-log.ts'
import { addRequestAdmission } from './plugins/turns.ts'
import { addMalformedPathHandling, rerouteMalformedPath } from './plugins/unreadable-paths.ts'
import { addValidation } from './plugins/validation.ts'

const DEFAULT_BODY_LIMIT_BYTES = 1024 * 1024

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

/** What stands between the network and the routes. */
export interface HttpOptions {
  /** undefined: only this machine may call, and everyone is admin. */
  keys?: KeyRing | undefined
  /** undefined: no limits. */
  meter?: RateLimiter | undefined
  /** Pages of which other sites may read answers. */
  corsOrigins?: string[]
  /** Addresses of proxies that say for whom they call. */
  trustProxy?: string[]
  patience?: HttpTimeouts
}

export async function buildApp(services: Services, log: FastifyBaseLogger, wire: HttpOptions = {}): Promise<App> {
  const { keys, meter, corsOrigins = [], trustProxy = [], patience = DEFAULT_HTTP_TIMEOUTS } = wire
  const waits = buildTimeoutOptions(patience)
  const app = Fastify({
    loggerInstance: new LazyLogger(log),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    ...waits,
    http: { ...waits.http, ...PERMISSIVE_HTTP_OPTIONS },
    trustProxy: trustProxy.length > 0 && trustProxy,
    bodyLimit: DEFAULT_BODY_LIMIT_BYTES,
    genReqId: getOrCreateRequestId,
    routerOptions: { maxParamLength: 16_384, ignoreTrailingSlash: true },
    frameworkErrors: (_error, { raw }, reply) => rerouteMalformedPath(app, raw, reply.raw),
    forceCloseConnections: 'idle',
    return503OnClosing: false, // what still comes is answered like any other: see connections.ts
  }) as unknown as App // the type provider is a matter of types alone
  addConnectionManagement(app)
  addRequestIds(app)
  addRequestLog(app, async (run) => (await services.runs.require(run)).settings.suppress_base_env_logs)
  addHttpMetrics(app, services.metrics.recorder)
  await addSecurityHeaders(app, corsOrigins)
  addHostAndExpectHandling(app)
  addAuthentication(app, keys, corsOrigins)
  if (meter) addRateLimit(app, meter)
  addMalformedPathHandling(app)
  addRequestAdmission(app)
  addAuthorization(app)
  addBodyMemoryLimit(app)
  addRequestDecompression(app)
  addJsonBodyParser(app)
  addValidation(app)
  addErrorHandling(app)
  addCommonResponses(app)
  await addOpenapi(app, OPERATION_EXAMPLES)
  await addDashboard(app)
  for (const add of ROUTES) add(app, services)
  await app.ready()
  return app
}
