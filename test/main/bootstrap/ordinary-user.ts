/** A user without rights, for tests of what such a user is told. Only root can become one. */
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const NOBODY = 65_534

export interface OrdinaryUser {
  /** The command, to be run by that user. */
  command(words: string[]): [string, ...string[]]
  /** A folder of that user in a temporary place. */
  createFolder(): string
  /** A folder of root that everyone may read. */
  createForeignFolder(): string
}

/** The reason if there can be none here. */
export function createOrdinaryUser(uid = NOBODY): OrdinaryUser | { reason: string } {
  if (process.getuid?.() !== 0) return { reason: 'only root can become another user' }
  const command = (words: string[]): [string, ...string[]] => [
    'setpriv',
    `--reuid=${uid}`,
    `--regid=${uid}`,
    '--clear-groups',
    ...words,
  ]
  const [setpriv, ...args] = command([process.execPath, import.meta.filename])
  if (spawnSync(setpriv, args).status !== 0)
    return { reason: 'setpriv is missing, or another user cannot reach this checkout' }
  const createForeignFolder = () => {
    const folder = mkdtempSync(join(tmpdir(), 'rgs-user-'))
    chmodSync(folder, 0o755)
    return folder
  }
  return {
    command,
    createForeignFolder,
    createFolder() {
      const folder = createForeignFolder()
      chownSync(folder, uid, uid)
      return folder
    },
  }
}
