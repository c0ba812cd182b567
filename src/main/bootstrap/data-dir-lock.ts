/** Allows one server per data folder: two would write the same append-only file. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describeProcess } from '../../platform/process-state.ts'
import { isFileLocked, tryLockFile } from './file-lock.ts'
import { createUnusableFolderError } from './private-folder.ts'
import { StartupError } from './startup-error.ts'

/** `server.lock` is locked while a server runs; `server.pid` has its process ID, for `kill` and for messages. */
const getLockPaths = (dataDir: string) => ({ lock: join(dataDir, 'server.lock'), pid: join(dataDir, 'server.pid') })

/** How long to wait for a server that is shutting down. */
const RELEASE_TIMEOUT_MS = 2000
const POLL_INTERVAL_MS = 100

export interface DataDirLock {
  release(): void
}

/** Throws if another server keeps using the folder. The lock of a killed server is free at once. */
export async function acquireDataDirLock(dataDir: string, report: (line: string) => void): Promise<DataDirLock> {
  const first = tryAcquireDataDirLock(dataDir)
  if (first) return first
  report(
    `waiting up to ${RELEASE_TIMEOUT_MS / 1000} s for another server (${describeHolder(dataDir)}) to leave ${dataDir}: stop it, or set DATA_DIR to another folder`,
  )
  for (const deadline = Date.now() + RELEASE_TIMEOUT_MS; Date.now() < deadline; ) {
    await sleep(POLL_INTERVAL_MS)
    const lock = tryAcquireDataDirLock(dataDir)
    if (lock) return lock
  }
  throw new StartupError(
    `Another server (${describeHolder(dataDir)}) uses ${dataDir}. Stop it, or set DATA_DIR to another folder. If it is shutting down, start again in a moment.`,
  )
}

/** Undefined if another process uses the folder. */
export function tryAcquireDataDirLock(dataDir: string): DataDirLock | undefined {
  const paths = getLockPaths(dataDir)
  try {
    const lock = tryLockFile(paths.lock)
    if (lock === undefined) return undefined
    writeFileSync(paths.pid, String(process.pid))
    return {
      release() {
        rmSync(paths.pid, { force: true })
        lock.release()
      },
    }
  } catch (error) {
    throw createUnusableFolderError(dataDir, error)
  }
}

function describeHolder(dataDir: string): string {
  const pid = readPid(getLockPaths(dataDir).pid)
  return Number.isNaN(pid) ? 'just starting' : describeProcess(pid)
}

/** The process ID, within its container, of the server that uses the folder; undefined if there is none. */
export function getLockHolderPid(dataDir: string): number | undefined {
  const paths = getLockPaths(dataDir)
  return isFileLocked(paths.lock) ? readPid(paths.pid) : undefined
}

/** NaN for a moment while a server starts. */
function readPid(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8') || Number.NaN)
  } catch {
    return Number.NaN
  }
}
