/**
 * The folders of the server, and the lock that allows one server per data folder: two would write the same append-only file. A
 * failure is a StartupError with a one-line message.
 */
import { accessSync, chmodSync, constants, lstatSync, mkdirSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { poll } from '../../platform/retry.ts'
import { describeHolder, type FileLock, isFileLocked, readHolderPid, tryLockWithPid } from './file-lock.ts'
import { StartupError } from './startup-report.ts'

/** Argument of a server whose DATA_DIR the server removes if the process that made it ends first. */
export const TEMPORARY_DATA = 'temporary-data'

/** Creates the folder if it is missing. Throws a StartupError that names DATA_DIR if it is not a writable folder. */
export function createFolder(path: string): void {
  try {
    createFolders(path)
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw createUnusableFolderError(path, error)
  }
}

/** One by one: with `recursive`, Node tries forever where the kernel allows no folder, as in /proc. */
function createFolders(path: string): void {
  const exists = () => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  if (exists()) return
  if (dirname(path) !== path) createFolders(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    if (!exists()) throw error // another process may have created it
  }
}

/** Creates a folder that only this user can read. Throws for a folder of another user or a link. */
export function createPrivateFolder(path: string): void {
  createFolder(path)
  const found = lstatSync(path)
  const uid = process.getuid?.() ?? found.uid
  if (!found.isDirectory() || found.uid !== uid) {
    throw new StartupError(
      `${path} is not a folder that belongs to this user. Remove it, or set DATA_DIR to another folder.`,
    )
  }
  chmodSync(path, 0o700)
}

/** The error for a folder that the server cannot use. */
function createUnusableFolderError(path: string, cause: unknown): StartupError {
  const { code = '' } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : {}
  if (isDiskFull(path)) {
    return new StartupError(`The disk of ${path} is full. Free space, or set DATA_DIR to a folder on another disk.`, {
      cause,
    })
  }
  const why = REASONS[code] ?? `cannot be written (${code})`
  return new StartupError(`${path} ${why}. Set DATA_DIR to a folder that this user can write to.`, { cause })
}

const REASONS: Record<string, string> = {
  EEXIST: 'is not a folder',
  ENOTDIR: 'is not a folder',
  EROFS: 'is on a read-only file system',
  ENAMETOOLONG: 'is too long a path',
}

function isDiskFull(path: string): boolean {
  try {
    const { blocks, bavail } = statfsSync(path)
    return blocks > 0 && bavail === 0 // virtual file systems such as /proc have no blocks
  } catch {
    return false // there is no such folder
  }
}

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
