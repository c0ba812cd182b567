/**
 * A lock on a file that ends with its process, even if that is killed or becomes a zombie. The kernel holds it: SQLite, which is
 * part of Node, locks the file as it would an (empty) database. So nothing gets stale, there is no heartbeat, and process IDs
 * of other containers do not matter. Lock libraries of npm only touch a file now and then and wait for it to get old.
 */
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const SQLITE_BUSY = 5
/** A check by another process takes the lock for a moment. */
const BUSY_TIMEOUT_MS = 300
/** A database that is collected as garbage would be closed, and its lock lost. */
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

/**
 * SQLite opens a file that it cannot write for reading, and two readers both get an "exclusive" lock. Throws what the system
 * says, such as EACCES. The file must not be opened for this: closing it would end a lock that this process has on it.
 */
function assertWritable(path: string): void {
  accessSync(existsSync(path) ? path : `${dirname(path)}/`, constants.W_OK)
}

/** False if there is no such file. Needs only the right to read it. */
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
