/** Logs requests: a line for each request of a run that does not suppress them, and at debug level for requests without a run. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { LRUCache } from 'lru-cache'

/** A change of the setting takes effect within this time. */
const QUIET_CACHE_TTL_MS = 1000
const MAX_URL_CHARS = 300

interface RequestLogOptions {
  /** Whether a run suppresses the log lines of its requests. */
  isQuietRun: (run: string) => Promise<boolean>
}

export const requestLog = fastifyPlugin<RequestLogOptions>(
  async (app, { isQuietRun }) => {
    const quietRuns = new LRUCache<string, { quiet: boolean }>({ max: 1000, ttl: QUIET_CACHE_TTL_MS })
    const isQuietCached = async (run: string) => {
      const cached = quietRuns.get(run) ?? { quiet: await isQuietRun(run).catch(() => true) }
      if (!quietRuns.has(run)) quietRuns.set(run, cached)
      return cached.quiet
    }
    const runs = new WeakMap<FastifyRequest, string>() // a route may release the body before the response is sent
    app.addHook('preHandler', (request, _reply, done) => {
      const run = getRunName(request)
      if (run !== undefined) runs.set(request, run)
      done()
    })
    app.addHook('onResponse', (request, reply, done) => {
      done()
      const run = runs.get(request) ?? getRunName(request)
      if (run === undefined) logRequest(request, reply, 'debug', run)
      else void isQuietCached(run).then((quiet) => logRequest(request, reply, quiet ? 'trace' : 'info', run))
    })
  },
  { name: 'request-log', dependencies: ['request-ids'] },
)

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

/** The run that a request names in its path, query or body. */
export function getRunName({ params, query, body }: FastifyRequest): string | undefined {
  for (const part of [params, query, body]) {
    const run: unknown = typeof part === 'object' && part !== null ? Reflect.get(part, 'run') : undefined
    if (typeof run === 'string') return run
  }
  return undefined
}
