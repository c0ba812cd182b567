/** Creates the folders of the server. A failure is a StartupError with a one-line message. */
import { accessSync, chmodSync, constants, lstatSync, mkdirSync, statfsSync } from 'node:fs'
import { StartupError } from './startup-error.ts'

/** Creates the folder if it is missing. Throws a StartupError that names DATA_DIR if it is not a writable folder. */
export function createFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true })
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw createUnusableFolderError(path, error)
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
export function createUnusableFolderError(path: string, cause: unknown): StartupError {
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
