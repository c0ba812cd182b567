/**
 * What happens to a process when the one that started it is killed and can no longer end it. Each ends by other means:
 *
 * - An API process or worker loses its channel to `npm start` and shuts down.
 * - `npm start` itself watches whether npm still runs.
 * - A Python module reads from its parent, and its process group kills itself when nothing can come any more.
 * - Redis has no such means, so the next start stops the one that was left. Two would write the same append-only file.
 */
import { execFileSync, spawn } from 'node:child_process'
import { readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { describeProcess, HAS_PROC, isProcessAlive } from '../../platform/process-state.ts'
import { poll } from '../../platform/retry.ts'
import { requestRedisShutdown } from './redis/redis-socket.ts'
import { StartupError } from './startup-error.ts'
import { type ReportProgress, withWaitNotice } from './wait-notice.ts'

/** Calls `end` when the parent that started this process with a channel is gone. */
export function watchParent(end: () => void): void {
  if (process.connected) process.once('disconnect', end)
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

/**
 * The module's stdin stays open as long as this process lives, even if this process is killed with SIGKILL. When it closes, the
 * process group kills itself: a pip that kept running would write into the environment that the next start creates.
 */
const TETHER = `
import os, runpy, signal, sys, threading
def end_with_parent():
    os.read(0, 1)
    os.killpg(0, signal.SIGKILL)
threading.Thread(target=end_with_parent, daemon=True).start()
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
`
const MAX_OUTPUT_CHARS = 4000

/** Rejects with PythonModuleError if the module fails. `onLine` is called with each line that it prints. */
export async function runTetheredPython(
  python: string,
  module: string,
  args: string[],
  onLine: (line: string) => void = () => {},
): Promise<void> {
  const child = spawn(python, ['-c', TETHER, module, ...args], { stdio: 'pipe', detached: true }) // a group of its own
  child.stdin.on('error', () => {}) // it may end before it is asked to
  let output = ''
  const collect = (stream: Readable, handleLine: (line: string) => void) => {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-MAX_OUTPUT_CHARS)
      for (const line of chunk.split('\n')) if (line.trim() !== '') handleLine(line.trim())
    })
  }
  collect(child.stdout, onLine)
  collect(child.stderr, () => {})
  const { promise, resolve, reject } = Promise.withResolvers<number | null>()
  child.once('error', reject)
  child.once('close', resolve)
  const code = await promise
  if (code !== 0) throw new PythonModuleError(module, output)
}

export class PythonModuleError extends Error {
  /** The end of what the module printed. */
  readonly output: string

  constructor(module: string, output: string) {
    super(`python -m ${module} failed`)
    this.output = output.trim()
  }

  /** Last lines of the output. */
  get summary(): string {
    return this.output.split('\n').slice(-3).join(' / ')
  }
}

const REDIS_POLL_INTERVAL_MS = 50

export const getRedisPidFile = (folder: string) => join(folder, 'redis.pid')

/** The process ID of the Redis that uses the folder; undefined if it has ended, even if its ID was reused. */
export function findRedisProcess(folder: string): number | undefined {
  try {
    const pid = Number(readFileSync(getRedisPidFile(folder), 'utf8'))
    return Number.isInteger(pid) && pid > 0 && isRedisOf(folder, pid) ? pid : undefined
  } catch {
    return undefined // it never ran, or ended by itself
  }
}

/** Stops the private Redis that a killed server left running. Throws a StartupError that names the process if it has not ended after `timeoutMs`. */
export async function stopOrphanedRedis(
  folder: string,
  socket: string,
  report: ReportProgress,
  timeoutMs: number,
): Promise<void> {
  const pid = findRedisProcess(folder)
  if (pid === undefined) return
  const holder = () => `a redis-server, ${describeProcess(pid)}, which an earlier server left on ${folder}`
  const advice = `if it is stuck, end it with \`kill -9 ${pid}\` (every write that it has answered is on disk); if it is suspended, \`kill -CONT ${pid}\` is enough`
  const isGone = await withWaitNotice(
    report,
    () => `waiting up to ${timeoutMs / 1000} s for ${holder()}, to end; ${advice}`,
    waitForEnd(() => findRedisProcess(folder) === undefined, socket, timeoutMs),
  )
  if (isGone) return
  throw new StartupError(
    `The data directory is still used by ${holder()}, which did not end within ${timeoutMs / 1000} s: ${advice}`,
  )
}

/** Repeats the request: Redis may be stuck, or not listen yet. */
async function waitForEnd(isGone: () => boolean, socket: string, timeoutMs: number): Promise<boolean> {
  const requestEnd = async () => {
    if (isGone()) return true
    await requestRedisShutdown(socket)
    return undefined
  }
  return (await poll(requestEnd, { everyMs: REDIS_POLL_INTERVAL_MS, timeoutMs })) ?? isGone()
}

/** Whether the process is a live Redis of this folder, rather than a process with a reused ID. */
function isRedisOf(folder: string, pid: number): boolean {
  if (!isProcessAlive(pid)) return false
  try {
    if (HAS_PROC) return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(folder)
    return /redis|valkey/.test(execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' }))
  } catch {
    return false // a process of another user, or it has just ended
  }
}
