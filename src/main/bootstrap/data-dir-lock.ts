/** One server per data folder: two would write the same append-only file. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isFileLocked, tryLockFile } from './file-lock.ts'
import { createUnusableFolderError } from './private-folder.ts'
import { StartupError } from './startup-error.ts'

/** `server.lock` is locked while a server runs; `server.pid` has its process ID, for `kill` and for messages. */
const getLockPaths = (dataDir: string) => ({ lock: join(dataDir, 'server.lock'), pid: join(dataDir, 'server.pid') })

/** Throws if another server has the folder. What a killed server left is taken over at once. */
export function acquireDataDirLock(dataDir: string): { release(): void } {
  const paths = getLockPaths(dataDir)
  try {
    const lock = tryLockFile(paths.lock)
    if (lock) {
      writeFileSync(paths.pid, String(process.pid))
      return {
        release() {
          rmSync(paths.pid, { force: true })
          lock.release()
        },
      }
    }
  } catch (error) {
    throw createUnusableFolderError(dataDir, error)
  }
  throw new StartupError(
    `Another server (process ${readPid(paths.pid)}) uses ${dataDir}: stop it, or set DATA_DIR to another folder`,
  )
}

/** The process ID of the server that has the folder, as its own container knows it; undefined if there is none. */
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
