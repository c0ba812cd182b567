/** A line for each answered request, for runs that want them; a request of no run is told at debug level. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'

/** A change of the setting is seen after this time at the latest. */
const QUIET_CACHE_TTL_MS = 1000
const MAX_URL_CHARS = 300

/** `isQuiet` says whether a run suppresses such lines. */
export function addRequestLog(app: FastifyInstance, isQuiet: (run: string) => Promise<boolean>): void {
  const quiet = new LRUCache<string, { quiet: boolean }>({ max: 1000, ttl: QUIET_CACHE_TTL_MS })
  const ask = async (run: string) => {
    const known = quiet.get(run) ?? { quiet: await isQuiet(run).catch(() => true) }
    if (!quiet.has(run)) quiet.set(run, known)
    return known.quiet
  }
  const runs = new WeakMap<FastifyRequest, string>() // bodies may be gone when the answer is
  app.addHook('preHandler', (request, _reply, done) => {
    const run = getRunName(request)
    if (run !== undefined) runs.set(request, run)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    done()
    const run = runs.get(request) ?? getRunName(request)
    if (run === undefined) logRequest(request, reply, 'debug', run)
    else void ask(run).then((silent) => logRequest(request, reply, silent ? 'trace' : 'info', run))
  })
}

type RequestLogLevel = 'trace' | 'debug' | 'info'

function logRequest(
  { log, method, url }: FastifyRequest,
  reply: FastifyReply,
  level: RequestLogLevel,
  run: string | undefined,
): void {
  const ms = Math.round(reply.elapsedTime)
  log[level]({ run, method, url: url.slice(0, MAX_URL_CHARS), status: reply.statusCode, ms }, 'request')
}

function getRunName({ params, query, body }: FastifyRequest): string | undefined {
  for (const part of [params, query, body]) {
    const run: unknown = typeof part === 'object' && part !== null ? Reflect.get(part, 'run') : undefined
    if (typeof run === 'string') return run
  }
  return undefined
}
