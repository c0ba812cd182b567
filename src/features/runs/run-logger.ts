/**
 * Writes log lines for one run. Its settings decide what is logged; a change applies from the next group or request on.
 */

import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import type { BaseLogger } from 'pino'

/** The logger methods used here, which both Fastify and pino provide. */
export interface ParentLogger extends Pick<BaseLogger, 'info' | 'trace'> {
  child(bindings: object, options: { level: string }): Pick<BaseLogger, 'debug'>
}

/** `debug` is defined only if the run has `debug_logging`, which overrides LOG_LEVEL. */
export function createRunLogger(
  log: ParentLogger,
  run: string,
  { debug_logging, suppress_base_env_logs }: Pick<RunSettings, 'debug_logging' | 'suppress_base_env_logs'>,
) {
  const debugLog = debug_logging ? log.child({ run }, { level: 'debug' }) : undefined
  return {
    debug: debugLog && ((fields: object, message: string) => debugLog.debug(fields, message)),
    info: (fields: object, message: string) =>
      log[suppress_base_env_logs ? 'trace' : 'info']({ run, ...fields }, message),
  }
}

const MAX_LOGGED_CHARS = 300

/** Shortens model output for a debug line. It keeps the start, and the end, where the answer is. */
export function truncateForLog(text: string): string {
  if (text.length <= MAX_LOGGED_CHARS) return text
  const half = MAX_LOGGED_CHARS / 2
  return `${text.slice(0, half)} …[${text.length - MAX_LOGGED_CHARS} more]… ${text.slice(-half)}`.toWellFormed()
}
