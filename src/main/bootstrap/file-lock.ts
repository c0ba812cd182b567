/**
 * A lock on a file that ends with its process, even if that is killed or becomes a zombie. The kernel holds it: SQLite, which is
 * part of Node, locks the file as it would an (empty) database. So locks never become stale, no heartbeat is needed, and
 * process IDs of other containers do not matter. The lock libraries on npm rely on heartbeats and expiry instead.
 */
import { accessSync, constants, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describeProcess } from '../../platform/process-state.ts'

const SQLITE_BUSY = 5
/** Another process that checks the lock holds it for a moment. */
const BUSY_TIMEOUT_MS = 300
/** Keeps databases referenced: garbage collection would close them and release their locks. */
const HELD = new Set<DatabaseSync>()

export interface FileLock {
  release(): void
}

/** Undefined if another process has the lock. Throws if the file cannot be locked. The file itself stays. */
export function tryLockFile(path: string): FileLock | undefined {
  assertWritable(path)
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (isBusy(error)) return undefined
    throw error
  }
  HELD.add(database)
  return {
    release() {
      HELD.delete(database)
      database.close()
    },
  }
}

/** As `tryLockFile`. While the lock is held, `pidFile` has the process ID of its holder, for `kill` and for messages. */
export function tryLockWithPid(path: string, pidFile: string): FileLock | undefined {
  const lock = tryLockFile(path)
  if (!lock) return undefined
  try {
    writeFileSync(pidFile, String(process.pid))
  } catch (error) {
    lock.release()
    throw error
  }
  return {
    release() {
      rmSync(pidFile, { force: true })
      lock.release()
    },
  }
}

/** The process ID, within its container, in a lock's `pidFile`; undefined for a moment after the lock was taken. */
export function readHolderPid(pidFile: string): number | undefined {
  try {
    return Number(readFileSync(pidFile, 'utf8')) || undefined
  } catch {
    return undefined // not written yet, or an unreadable file of another user
  }
}

/** The holder of a lock in words, or `unknown`. */
export function describeHolder(pidFile: string, unknown: string): string {
  const pid = readHolderPid(pidFile)
  return pid === undefined ? unknown : describeProcess(pid)
}

/**
 * SQLite opens a file without write permission read-only, and then two processes both get an "exclusive" lock. Throws the
 * error of the system, such as EACCES. This must not open the file, because closing it would end a lock of this process.
 */
function assertWritable(path: string): void {
  accessSync(existsSync(path) ? path : `${dirname(path)}/`, constants.W_OK)
}

/** False if there is no such file. Requires only read permission. */
export function isFileLocked(path: string): boolean {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path, { readOnly: true })
    database.exec('SELECT 1 FROM sqlite_schema')
    return false
  } catch (error) {
    return isBusy(error)
  } finally {
    database?.close()
  }
}

function isBusy(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === SQLITE_BUSY // as node:sqlite reports it
}
