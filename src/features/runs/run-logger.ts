/** The log of one run: its settings say what gets through, from the next group or request on. */
import type { BaseLogger } from 'pino'
import type { RunSettings } from '../../contract/run.ts'

/** What we need of a logger; Fastify's and pino's both have it. */
export interface ParentLogger extends Pick<BaseLogger, 'info' | 'trace'> {
  child(bindings: object, options: { level: string }): Pick<BaseLogger, 'debug'>
}

type LogWriter = (about: object, line: string) => void

export interface RunLogger {
  /** Only where the run wants it, and then whatever LOG_LEVEL says. */
  debug: LogWriter | undefined
  /** Requests and jobs as they pass. */
  info: LogWriter
}

export function createRunLogger(
  log: ParentLogger,
  run: string,
  { debug_logging, suppress_base_env_logs }: Pick<RunSettings, 'debug_logging' | 'suppress_base_env_logs'>,
): RunLogger {
  const debugging = debug_logging ? log.child({ run }, { level: 'debug' }) : undefined
  return {
    debug: debugging && ((about, line) => debugging.debug(about, line)),
    info: (about, line) => log[suppress_base_env_logs ? 'trace' : 'info']({ run, ...about }, line),
  }
}

const MAX_LOGGED_CHARS = 300

/** Text of a model as it may stand in a debug line: its beginning and its end, where the answer is. */
export function truncateForLog(text: string): string {
  if (text.length <= MAX_LOGGED_CHARS) return text
  const half = MAX_LOGGED_CHARS / 2
  return `${text.slice(0, half)} …[${text.length - MAX_LOGGED_CHARS} more]… ${text.slice(-half)}`.toWellFormed()
}
