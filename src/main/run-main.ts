/** Runs an entry point and prints a startup error as one line, without a stack trace. */
import { ConfigError } from '../platform/process-env.ts'
import { StartupError } from './bootstrap/startup-error.ts'

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
