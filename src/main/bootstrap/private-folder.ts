/** Folders that the server makes for itself: one that cannot be had ends the start with a line. */
import { accessSync, chmodSync, constants, lstatSync, mkdirSync } from 'node:fs'
import { StartupError } from './startup-error.ts'

/** Makes the folder where there is none. Throws a line that names DATA_DIR if it is none, or cannot be written. */
export function createFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true })
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw createUnusableFolderError(path, error)
  }
}

/** A folder that only this user can look into. One of another user, or a link to elsewhere, is not taken. */
export function createPrivateFolder(path: string): void {
  createFolder(path)
  const found = lstatSync(path)
  const uid = process.getuid?.() ?? found.uid
  if (!found.isDirectory() || found.uid !== uid) {
    throw new StartupError(`${path} is not a folder of this user: remove it, or set DATA_DIR to another folder`)
  }
  chmodSync(path, 0o700)
}

/** What is said of a folder that the server cannot work in. */
export function createUnusableFolderError(path: string, cause: unknown): StartupError {
  const { code = '' } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : {}
  const why = code === 'EEXIST' || code === 'ENOTDIR' ? 'is not a folder' : `cannot be written (${code})`
  return new StartupError(`${path} ${why}: set DATA_DIR to a folder that this user can write to`, { cause })
}
