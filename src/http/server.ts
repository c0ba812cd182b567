/** Builds the HTTP application from named plugins. It reads no environment and opens no port. */
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Transfers } from '../platform/platform.ts'
import type { WriteConfirmation } from '../platform/redis/replication.ts'
import { NO_TRACING, type Tracing } from '../platform/telemetry/tracing.ts'
import type { App } from './app.ts'
import { authentication, dropOriginFromTarget } from './auth/authentication.ts'
import { authorization } from './auth/authorization.ts'
import type { KeyRing } from './auth/key-ring.ts'
import { revokedKeys } from './auth/revoked-keys.ts'
import { largeReplies } from './bodies/large-replies.ts'
import { DEFAULT_BODY_LIMIT_BYTES, requestBodies } from './bodies/request-bodies.ts'
import { compression } from './compression.ts'
import { connectionLimit } from './connections/connection-limit.ts'
import { buildTimeoutOptions, DEFAULT_HTTP_TIMEOUTS, type HttpTimeouts } from './connections/http-timeouts.ts'
import { gracefulClose } from './connections/listening.ts'
import { requestAdmission } from './connections/request-admission.ts'
import { securityHeaders } from './cors-and-security-headers.ts'
import { dashboard } from './dashboard.ts'
import { errorHandling } from './errors/error-handling.ts'
import {
  hostAndExpect,
  malformedPaths,
  PERMISSIVE_HTTP_OPTIONS,
  rerouteMalformedPath,
} from './errors/malformed-requests.ts'
import { getOrCreateRequestId, requestIds } from './observability/request-ids.ts'
import { requestLog } from './observability/request-log.ts'
import { type HttpMetricsRecorder, httpMetrics, requestTraces } from './observability/request-telemetry.ts'
import { openapi } from './openapi/openapi.ts'
import { type RateLimiter, rateLimit } from './rate-limit.ts'
import { replicatedWrites } from './replicated-writes.ts'
import { schemaController, validation } from './validation.ts'

/** An item ID in the URL has up to 2,048 characters, each of which may be percent-encoded. */
const MAX_PARAM_CHARS = 16_384

interface HttpServerDeps {
  log: FastifyBaseLogger
  metricsRecorder: HttpMetricsRecorder
  transfers: Pick<Transfers, 'bodies' | 'replies'>
  replication: WriteConfirmation
  /** Default: none. */
  tracing?: Tracing
  /** Whether a run suppresses the log lines of its requests. */
  isQuietRun: (run: string) => Promise<boolean>
  addRoutes: (app: App) => void
}

/** Settings of the layer between the network and the routes. */
export interface HttpOptions {
  /** If undefined, only this machine may call, and every caller is an admin. */
  keyRing?: KeyRing | undefined
  /** undefined: no rate limits. */
  rateLimiter?: RateLimiter | undefined
  /** Sites whose pages may read responses. */
  corsOrigins?: string[]
  /** Addresses of proxies whose `X-Forwarded-For` is trusted. */
  trustProxy?: string[]
  timeouts?: HttpTimeouts
  /** undefined: no limit. */
  maxConnections?: number | undefined
}

/** Each plugin names the plugins that must come before it; Fastify throws at boot where the order is wrong. */
export async function createHttpServer(
  { log, metricsRecorder, transfers, replication, tracing = NO_TRACING, isQuietRun, addRoutes }: HttpServerDeps,
  {
    keyRing,
    rateLimiter,
    corsOrigins = [],
    trustProxy = [],
    timeouts = DEFAULT_HTTP_TIMEOUTS,
    maxConnections,
  }: HttpOptions = {},
): Promise<App> {
  const timeoutOptions = buildTimeoutOptions(timeouts)
  const app: App = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    ...timeoutOptions,
    http: { ...timeoutOptions.http, ...PERMISSIVE_HTTP_OPTIONS },
    trustProxy: trustProxy.length > 0 && trustProxy,
    bodyLimit: DEFAULT_BODY_LIMIT_BYTES,
    genReqId: getOrCreateRequestId,
    rewriteUrl: dropOriginFromTarget,
    schemaController,
    routerOptions: { maxParamLength: MAX_PARAM_CHARS, ignoreTrailingSlash: true },
    frameworkErrors: (_error, { raw }, reply) => rerouteMalformedPath(app, raw, reply.raw),
    forceCloseConnections: 'idle',
    return503OnClosing: false, // requests that still arrive are answered like any other: see listening.ts
  }).withTypeProvider<ZodTypeProvider>()
  await app.register(gracefulClose)
  await app.register(connectionLimit, { maxConnections })
  await app.register(requestIds)
  await app.register(requestLog, { isQuietRun })
  await app.register(requestTraces, { tracing })
  await app.register(httpMetrics, { metricsRecorder })
  await app.register(securityHeaders, { corsOrigins })
  await app.register(replicatedWrites, { replication })
  await app.register(revokedKeys, { keyRing })
  await app.register(largeReplies, { slots: transfers.replies })
  await app.register(compression)
  await app.register(hostAndExpect)
  await app.register(authentication, { keyRing, corsOrigins })
  await app.register(rateLimit, { rateLimiter })
  await app.register(malformedPaths)
  await app.register(requestAdmission)
  await app.register(authorization)
  await app.register(requestBodies, { slots: transfers.bodies })
  await app.register(validation)
  await app.register(errorHandling)
  await app.register(openapi)
  await app.register(dashboard)
  addRoutes(app)
  await app.ready()
  return app
}
