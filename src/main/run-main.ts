/**
 * The start and the end of a process: a startup error is printed as one line, and a shutdown finishes the work in flight. A process
 * also ends when the one that started it is killed and can no longer end it.
 */

import { readFileSync } from 'node:fs'
import { replaceControls } from '@reasoning-gym-server/cli/output'
import { ConfigError } from '@reasoning-gym-server/contract/dot-env'
import closeWithGrace from 'close-with-grace'
import type { Logger } from 'pino'
import { HAS_PROC } from '../platform/process-state.ts'
import { StartupError } from './bootstrap/startup-report.ts'

const SHUTDOWN_GRACE_MS = 15_000
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Lets `npm start` replace its processes. It ends any other process. */
const REPLACE_SIGNAL = 'SIGUSR2'
/**
 * One stop sends several signals: a terminal and systemd send theirs to every process of the group, and npm, the launcher and
 * `npm start` each pass theirs on. Only a SIGINT after this time comes from a person who does not want to wait.
 */
const SAME_STOP_MS = 2000

/** What a child process sends to `npm start` in place of printing it, so that several processes do not print the same error. */
interface StartupFailure {
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

/** Runs an entry point that `npm start` may have started: its parent then prints the error, and asks whether it still answers. */
export function runChildMain(start: () => Promise<void>): Promise<void> {
  process.on('message', (message) => {
    if (message === 'ping') process.send?.('pong', undefined, undefined, () => {}) // the parent may have ended
  })
  return runMain(start, process.send === undefined ? printError : sendError)
}

function printError(message: string): void {
  console.error(`reasoning-gym-server: ${replaceControls(message)}`)
}

/** A parent that is gone has printed an error of its own. */
function sendError(message: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const failure: StartupFailure = { type: 'startup-error', message }
  if (process.send?.(failure, undefined, undefined, () => resolve()) === undefined) resolve()
  return promise
}

/**
 * Finishes the work in flight on a signal, then exits. Further signals change nothing, but a later Ctrl-C ends a process that a
 * person has started. `abandon` ends what this process leaves behind. `replace`: what SIGUSR2 does instead of a shutdown.
 */
export function closeOnShutdown(
  log: Logger,
  close: () => Promise<void>,
  {
    graceMs = SHUTDOWN_GRACE_MS,
    abandon,
    replace,
  }: { graceMs?: number; abandon?: () => void; replace?: () => void } = {},
): void {
  if (replace) process.on(REPLACE_SIGNAL, replace)
  const skip = [...STOP_SIGNALS, ...(replace ? ([REPLACE_SIGNAL] as const) : [])]
  const shutdown = closeWithGrace({ delay: graceMs, logger: false, skip }, async ({ err }) => {
    if (err) log.error({ err }, 'shutting down after an error')
    await close().catch((error: unknown) => {
      log.error({ err: error }, 'the shutdown is not complete')
      throw error
    })
  })
  const isChild = process.connected && abandon === undefined // of `npm start`, which decides how long its children may take
  let firstSignalAt: number | undefined
  const onSignal = (signal: NodeJS.Signals) => {
    if (firstSignalAt === undefined) {
      firstSignalAt = performance.now()
      shutdown.close()
    } else if (!isChild && signal === 'SIGINT' && performance.now() - firstSignalAt > SAME_STOP_MS) {
      process.exit(1)
    }
  }
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal)
  if (abandon) process.once('exit', abandon) // also when the time is over: what hangs would keep the port
  // A closed terminal takes the output with it; the shutdown goes on.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  // An API process or worker loses its channel when `npm start` is killed.
  if (process.connected) process.once('disconnect', () => onSignal('SIGTERM'))
  else if (process.send) process.kill(process.pid, 'SIGTERM') // it was killed before
}

const NPM_POLL_INTERVAL_MS = 1000
/** npm, a shell, and the launcher with an older Node. */
const MAX_GENERATIONS = 4

interface ProcessParent {
  pid: number
  parent: number
}

/**
 * Calls `end` once when the line of processes up to npm is broken. Does nothing if npm is not among the ancestors. npm passes
 * SIGINT and SIGTERM on, but a killed npm, or a shell between npm and the server, would leave the server running. Under nohup,
 * systemd or a container npm lives as long as the server.
 */
export function watchNpmParent(end: () => void): void {
  const line = findLineToNpm(process.pid)
  if (line === undefined) return
  const timer = setInterval(() => {
    if (line.every(({ pid, parent }) => readParent(pid)?.parent === parent)) return
    clearInterval(timer)
    end()
  }, NPM_POLL_INTERVAL_MS)
  timer.unref()
}

/** The processes from `pid` up to the child of npm, each with its parent. */
function findLineToNpm(pid: number): ProcessParent[] | undefined {
  if (!HAS_PROC) return undefined
  const line: ProcessParent[] = []
  for (let at = pid; line.length < MAX_GENERATIONS; ) {
    const process = readParent(at)
    if (process === undefined) return undefined
    if (process.name.startsWith('npm')) return line // the title that npm gives itself
    line.push({ pid: at, parent: process.parent })
    at = process.parent
  }
  return undefined
}

function readParent(pid: number): { name: string; parent: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const nameEnd = stat.lastIndexOf(')')
    return { name: stat.slice(stat.indexOf('(') + 1, nameEnd), parent: Number(stat.slice(nameEnd + 4).split(' ')[0]) }
  } catch {
    return undefined
  }
}
