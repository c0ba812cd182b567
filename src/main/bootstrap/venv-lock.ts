/** Lets one process create the Python environment of a checkout. Others wait, and report for which process. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { describeProcess } from '../../platform/process-state.ts'
import { type FileLock, tryLockFile } from './file-lock.ts'
import { StartupError } from './startup-error.ts'
import type { VenvFiles } from './venv-files.ts'
import { type ReportProgress, withWaitNotice } from './wait-notice.ts'

const POLL_INTERVAL_MS = 200
/** A slow network may take minutes for 100 MB of packages. */
const TIMEOUT_MS = 15 * 60_000

/** Reports within a second which process it waits for. */
export async function acquireVenvLock(files: VenvFiles, report: ReportProgress): Promise<FileLock> {
  const line = () => `waiting for ${describeHolder(files)}, which prepares the Python environment in ${files.venv}`
  const advice = 'if it is stuck, end it with kill -9, which does no harm'
  const lock = await withWaitNotice(report, () => `${line()}; ${advice}`, pollLock(files))
  if (lock) return lock
  throw new StartupError(`Gave up ${line()} after ${TIMEOUT_MS / 60_000} minutes: ${advice}, then start again`)
}

async function pollLock(files: VenvFiles): Promise<FileLock | undefined> {
  for (const deadline = Date.now() + TIMEOUT_MS; Date.now() < deadline; await sleep(POLL_INTERVAL_MS)) {
    const lock = tryAcquireVenvLock(files)
    if (lock) return lock
  }
  return undefined
}

/** Undefined if another process holds the lock. */
export function tryAcquireVenvLock(files: VenvFiles): FileLock | undefined {
  const lock = tryLockFile(files.lock)
  if (!lock) return undefined
  try {
    writeFileSync(files.lockHolder, String(process.pid))
  } catch (error) {
    lock.release()
    throw error
  }
  return {
    release() {
      rmSync(files.lockHolder, { force: true })
      lock.release()
    },
  }
}

function describeHolder(files: VenvFiles): string {
  try {
    return describeProcess(Number(readFileSync(files.lockHolder, 'utf8')))
  } catch {
    return 'another process' // it has only just taken the lock, or another user's file is unreadable
  }
}
