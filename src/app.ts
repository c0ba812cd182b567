/** The whole HTTP application: no port, no environment. What it needs is given to it. */
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import { batches } from '../routes/batches.ts'
import { checkpoint } from '../routes/checkpoint.ts'
import { collect } from '../routes/collect.ts'
import type { App, Services } from '../routes/context.ts'
import { dumps } from '../routes/dumps.ts'
import { evals } from '../routes/eval.ts'
import { evalSamples } from '../routes/eval-samples.ts'
import { EXAMPLES } from '../routes/examples.ts'
import { exportRoute } from '../routes/export.ts'
import { groups } from '../routes/groups.ts'
import { items } from '../routes/items.ts'
import { jobs } from '../routes/jobs.ts'
import { metrics } from '../routes/metrics.ts'
import { operations } from '../routes/operations.ts'
import { overview } from '../routes/overview.ts'
import { rollouts } from '../routes/rollouts.ts'
import { runs } from '../routes/runs.ts'
import { score } from '../routes/score.ts'
import { tasks } from '../routes/tasks.ts'
import type { KeyRing } from './access/key-ring.ts'
import type { Meter } from './access/meter.ts'
import { addBodies } from './plugins/bodies.ts'
import { addBodyRoom } from './plugins/body-room.ts'
import { addCallers } from './plugins/callers.ts'
import { addCommonAnswers } from './plugins/common-answers.ts'
import { addCompressedBodies } from './plugins/compressed-bodies.ts'
import { addConnections } from './plugins/connections.ts'
import { addDashboard } from './plugins/dashboard.ts'
import { addGuard } from './plugins/guard.ts'
import { LazyLog } from './plugins/lazy-log.ts'
import { addLimits } from './plugins/limits.ts'
import { addMetrics } from './plugins/metrics.ts'
import { addOpenapi } from './plugins/openapi.ts'
import { addPages } from './plugins/pages.ts'
import { PATIENCE, type Patience, patient } from './plugins/patience.ts'
import { addPlainHttp, LEFT_TO_US } from './plugins/plain-http.ts'
import { addProblems } from './plugins/problems.ts'
import { addRequestIds, requestId } from './plugins/request-ids.ts'
import { addRequestLog } from './plugins/request-log.ts'
import { addTurns } from './plugins/turns.ts'
import { addUnreadablePaths, sendNowhere } from './plugins/unreadable-paths.ts'
import { addValidation } from './plugins/validation.ts'

const BODY_BYTES = 1024 * 1024

const ROUTES = [
  tasks,
  items,
  score,
  rollouts,
  runs,
  checkpoint,
  groups,
  batches,
  jobs,
  evals,
  evalSamples,
  collect,
  dumps,
  exportRoute,
  operations,
  overview,
  metrics,
]

/** What stands between the network and the routes. */
export interface Wire {
  /** undefined: only this machine may call, and everyone is admin. */
  keys?: KeyRing | undefined
  /** undefined: no limits. */
  meter?: Meter | undefined
  /** Pages of which other sites may read answers. */
  corsOrigins?: string[]
  /** Addresses of proxies that say for whom they call. */
  trustProxy?: string[]
  patience?: Patience
}

export async function buildApp(services: Services, log: FastifyBaseLogger, wire: Wire = {}): Promise<App> {
  const { keys, meter, corsOrigins = [], trustProxy = [], patience = PATIENCE } = wire
  const waits = patient(patience)
  const app = Fastify({
    loggerInstance: new LazyLog(log),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    ...waits,
    http: { ...waits.http, ...LEFT_TO_US },
    trustProxy: trustProxy.length > 0 && trustProxy,
    bodyLimit: BODY_BYTES,
    genReqId: requestId,
    routerOptions: { maxParamLength: 16_384, ignoreTrailingSlash: true },
    frameworkErrors: (_error, { raw }, reply) => sendNowhere(app, raw, reply.raw),
    forceCloseConnections: 'idle',
    return503OnClosing: false, // what still comes is answered like any other: see connections.ts
  }) as unknown as App // the type provider is a matter of types alone
  addConnections(app)
  addRequestIds(app)
  addRequestLog(app, async (run) => (await services.runs.find(run)).settings.suppress_base_env_logs)
  addMetrics(app, services.metrics.meters)
  await addPages(app, corsOrigins)
  addPlainHttp(app)
  addCallers(app, keys, corsOrigins)
  if (meter) addLimits(app, meter)
  addUnreadablePaths(app)
  addTurns(app)
  addGuard(app)
  addBodyRoom(app)
  addCompressedBodies(app)
  addBodies(app)
  addValidation(app)
  addProblems(app)
  addCommonAnswers(app)
  await addOpenapi(app, EXAMPLES)
  await addDashboard(app)
  for (const add of ROUTES) add(app, services)
  await app.ready()
  return app
}
