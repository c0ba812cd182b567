/** One process creates the Python environment of a checkout; the others wait for it, and say for whom. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type FileLock, tryLockFile } from './file-lock.ts'
import { type ReportProgress, remindWhile } from './report-waiting.ts'
import { StartupError } from './startup-error.ts'
import type { VenvFiles } from './venv-files.ts'

const POLL_INTERVAL_MS = 200
/** A slow network may take minutes for 100 MB of packages. */
const TIMEOUT_MS = 15 * 60_000

/** Reports within a second which process it waits for. */
export function acquireVenvLock(files: VenvFiles, report: ReportProgress): Promise<FileLock> {
  let holder = ''
  const describe = () => `Waiting for ${holder}, which prepares the Python environment in ${files.venv}`
  const wait = async () => {
    for (const deadline = Date.now() + TIMEOUT_MS; Date.now() < deadline; await sleep(POLL_INTERVAL_MS)) {
      const lock = tryAcquireVenvLock(files)
      if (lock) return lock
      const found = describeHolder(files)
      if (found === holder) continue
      holder = found
      report(`${describe()}. If it is stuck, end it (kill -9): this start then prepares it itself`)
    }
    throw new StartupError(
      `${describe()}, for ${TIMEOUT_MS / 60_000} minutes already: end that process (kill -9) and start again`,
    )
  }
  return remindWhile(report, describe, wait())
}

/** Undefined if another process has it. */
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
    return `process ${Number.parseInt(readFileSync(files.lockHolder, 'utf8'), 10)}`
  } catch {
    return 'another process' // it has only just taken the lock, or another user keeps the file from us
  }
}
