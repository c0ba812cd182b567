/** The whole HTTP application: no port, no environment. What it needs is given to it. */
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import { addBatchRoutes } from '../../routes/batches.ts'
import { addCheckpointRoutes } from '../../routes/checkpoints.ts'
import { addCollectionRoutes } from '../../routes/collections.ts'
import type { App, Services } from '../../routes/context.ts'
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
import { addAuthentication } from '../http/auth/authentication.ts'
import { addAuthorization } from '../http/auth/authorization.ts'
import type { KeyRing } from '../http/auth/key-ring.ts'
import { addBodyMemoryLimit } from '../http/bodies/body-memory-limit.ts'
import { addJsonBodyParser } from '../http/bodies/json-body-parser.ts'
import { addRequestDecompression } from '../http/bodies/request-decompression.ts'
import { addConnectionManagement } from '../http/connections/graceful-close.ts'
import { buildTimeoutOptions, DEFAULT_HTTP_TIMEOUTS, type HttpTimeouts } from '../http/connections/http-timeouts.ts'
import { addRequestAdmission } from '../http/connections/request-admission.ts'
import { addDashboard } from '../http/dashboard.ts'
import { addErrorHandling } from '../http/errors/error-handling.ts'
import { addHostAndExpectHandling, PERMISSIVE_HTTP_OPTIONS } from '../http/errors/host-and-expect.ts'
import { addMalformedPathHandling, rerouteMalformedPath } from '../http/errors/malformed-paths.ts'
import { addHttpMetrics } from '../http/observability/http-metrics.ts'
import { LazyLogger } from '../http/observability/lazy-logger.ts'
import { addRequestIds, getOrCreateRequestId } from '../http/observability/request-ids.ts'
import { addRequestLog } from '../http/observability/request-log.ts'
import { addCommonResponses } from '../http/openapi/common-responses.ts'
import { addOpenapi } from '../http/openapi/openapi.ts'
import { addRateLimit } from '../http/rate-limit/rate-limit.ts'
import type { RateLimiter } from '../http/rate-limit/rate-limiter.ts'
import { addSecurityHeaders } from '../http/security-headers.ts'
import { addValidation } from '../http/validation.ts'

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
