/**
 * The most connections that this process accepts. Each takes a file descriptor, and without a free one nothing works: no Redis,
 * no Python worker, not even a reading of the memory in use. So some are kept for everything else.
 */
import { readFileSync } from 'node:fs'
import fastifyPlugin from 'fastify-plugin'
import { throttledLog } from '../../platform/throttled-log.ts'

/** An API process with 16 Python workers takes about 100. */
const MIN_RESERVED_FILES = 128
/** For exports and dumps that clients read, which take a file besides their connection. */
const RESERVED_SHARE = 0.25

/** How many files this process may open; undefined if there is no limit, or if the system does not say. */
export function readOpenFilesLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined // only Linux has the file
  }
}

/** Number of connections for a limit of open files. */
export function getConnectionLimit(openFiles: number): number {
  const reserved = Math.max(MIN_RESERVED_FILES, Math.ceil(openFiles * RESERVED_SHARE))
  return Math.max(1, openFiles - reserved)
}

interface ConnectionLimitOptions {
  /** undefined: no limit. */
  maxConnections: number | undefined
}

/** Above the limit, a new connection is closed, and connections that wait for their next request make room. */
export const connectionLimit = fastifyPlugin(
  async (app, { maxConnections }: ConnectionLimitOptions) => {
    if (maxConnections === undefined) return
    const warn = throttledLog((what, suppressed) => app.log.warn({ suppressed }, String(what)))
    app.server.maxConnections = maxConnections
    app.server.on('drop', () => {
      warn(
        `Closed a new connection: ${maxConnections} are open, the most for a limit of ${readOpenFilesLimit()} open files. Raise it with \`ulimit -n\` or LimitNOFILE=`,
      )
      app.server.closeIdleConnections()
    })
  },
  { name: 'connection-limit' },
)
