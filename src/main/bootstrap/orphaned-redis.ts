/** Stops the private Redis that a killed server left running: two would write the same append-only file. */
import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describeProcess, HAS_PROC, isProcessAlive } from '../../platform/process-state.ts'
import type { ReportProgress } from './python-environment.ts'
import { requestRedisShutdown } from './redis-socket-client.ts'
import { StartupError } from './startup-error.ts'
import { withWaitNotice } from './wait-notice.ts'

const POLL_INTERVAL_MS = 50

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

/** Throws a StartupError that names the process if it has not ended after `timeoutMs`. */
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
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(POLL_INTERVAL_MS)) {
    if (isGone()) return true
    await requestRedisShutdown(socket)
  }
  return isGone()
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
