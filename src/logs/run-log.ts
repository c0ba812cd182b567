/** The log of one run: its settings say what gets through, from the next group or request on. */
import type { BaseLogger } from 'pino'
import type { RunSettings } from '../words/run.ts'

/** What we need of a logger; Fastify's and pino's both have it. */
export interface ParentLog extends Pick<BaseLogger, 'info' | 'trace'> {
  child(bindings: object, options: { level: string }): Pick<BaseLogger, 'debug'>
}

type Write = (about: object, line: string) => void

export interface RunLog {
  /** Only where the run wants it, and then whatever LOG_LEVEL says. */
  debug: Write | undefined
  /** Requests and jobs as they pass. */
  chatter: Write
}

export function runLog(
  log: ParentLog,
  run: string,
  { debug_logging, suppress_base_env_logs }: Pick<RunSettings, 'debug_logging' | 'suppress_base_env_logs'>,
): RunLog {
  const debugging = debug_logging ? log.child({ run }, { level: 'debug' }) : undefined
  return {
    debug: debugging && ((about, line) => debugging.debug(about, line)),
    chatter: (about, line) => log[suppress_base_env_logs ? 'trace' : 'info']({ run, ...about }, line),
  }
}

const CUT_CHARS = 300

/** Text of a model as it may stand in a debug line: its beginning and its end, where the answer is. */
export function cutForLog(text: string): string {
  if (text.length <= CUT_CHARS) return text
  const half = CUT_CHARS / 2
  return `${text.slice(0, half)} …[${text.length - CUT_CHARS} more]… ${text.slice(-half)}`.toWellFormed()
}
