/** The start and the end of a process: a startup error is printed as one line, and a shutdown finishes the work in flight. */

import { ConfigError } from '@reasoning-gym-server/contract/dot-env'
import closeWithGrace from 'close-with-grace'
import type { Logger } from 'pino'
import { watchParent } from './bootstrap/child-lifetime.ts'
import { StartupError } from './bootstrap/startup-error.ts'

const SHUTDOWN_GRACE_MS = 15_000

/** What a child process sends to `npm start` in place of printing it, so that several processes do not print the same error. */
export interface StartupFailure {
  type: 'startup-error'
  message: string
}

export function isStartupFailure(message: unknown): message is StartupFailure {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'startup-error'
}

export async function runMain(
  start: () => Promise<void>,
  report: (message: string) => void | Promise<void> = printError,
): Promise<void> {
  try {
    await start()
  } catch (error) {
    const known = error instanceof ConfigError || error instanceof StartupError
    if (known) await Promise.resolve(report(error.message))
    else console.error(error)
    process.exit(1)
  }
}

/** Runs an entry point that `npm start` may have started: its parent then prints the error. */
export function runChildMain(start: () => Promise<void>): Promise<void> {
  return runMain(start, process.send === undefined ? printError : sendError)
}

function printError(message: string): void {
  console.error(`reasoning-gym-server: ${message}`)
}

/** A parent that is gone has printed an error of its own. */
function sendError(message: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const failure: StartupFailure = { type: 'startup-error', message }
  if (process.send?.(failure, undefined, undefined, () => resolve()) === undefined) resolve()
  return promise
}

/** Finishes the work in flight on a signal, then exits. A second signal or the end of the grace period exits at once. */
export function closeOnShutdown(log: Logger, close: () => Promise<void>): void {
  closeWithGrace({ delay: SHUTDOWN_GRACE_MS, logger: false }, async ({ err }) => {
    if (err) log.error({ err }, 'shutting down after an error')
    await close()
  })
  watchParent(() => process.kill(process.pid, 'SIGTERM'))
}
