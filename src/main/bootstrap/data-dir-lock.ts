/** Allows one server per data folder: two would write the same append-only file. */
import { join } from 'node:path'
import { poll } from '../../platform/retry.ts'
import { describeHolder, type FileLock, isFileLocked, readHolderPid, tryLockWithPid } from './file-lock.ts'
import { createUnusableFolderError } from './private-folder.ts'
import { StartupError } from './startup-error.ts'

/** `server.lock` is locked while a server runs; `server.pid` has its process ID. */
const getLockPaths = (dataDir: string) => ({ lock: join(dataDir, 'server.lock'), pid: join(dataDir, 'server.pid') })

/** How long to wait for a server that is shutting down. */
const RELEASE_TIMEOUT_MS = 2000
const POLL_INTERVAL_MS = 100

/** Throws if another server keeps using the folder. The lock of a killed server is free at once. */
export async function acquireDataDirLock(dataDir: string, report: (line: string) => void): Promise<FileLock> {
  const holder = () => describeHolder(getLockPaths(dataDir).pid, 'just starting')
  const first = tryAcquireDataDirLock(dataDir)
  if (first) return first
  report(
    `waiting up to ${RELEASE_TIMEOUT_MS / 1000} s for another server (${holder()}) to leave ${dataDir}: stop it, or set DATA_DIR to another folder`,
  )
  const released = await poll(() => tryAcquireDataDirLock(dataDir), {
    everyMs: POLL_INTERVAL_MS,
    timeoutMs: RELEASE_TIMEOUT_MS,
  })
  if (released) return released
  throw new StartupError(
    `Another server (${holder()}) uses ${dataDir}. Stop it, or set DATA_DIR to another folder. If it is shutting down, start again in a moment.`,
  )
}

/** Undefined if another process uses the folder. */
export function tryAcquireDataDirLock(dataDir: string): FileLock | undefined {
  const { lock, pid } = getLockPaths(dataDir)
  try {
    return tryLockWithPid(lock, pid)
  } catch (error) {
    throw createUnusableFolderError(dataDir, error)
  }
}

/** The process ID, within its container, of the server that uses the folder; NaN while it starts; undefined if there is none. */
export function getLockHolderPid(dataDir: string): number | undefined {
  const { lock, pid } = getLockPaths(dataDir)
  return isFileLocked(lock) ? (readHolderPid(pid) ?? Number.NaN) : undefined
}
