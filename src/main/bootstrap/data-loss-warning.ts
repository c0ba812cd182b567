/** Warns if the private Redis starts empty on a folder that has held data: nothing else would reveal the loss. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { countRedisKeys } from './redis-socket-client.ts'

const getMarker = (folder: string) => join(folder, 'in-use')

export function noteFolderUse(folder: string): void {
  if (existsSync(getMarker(folder))) return
  writeFileSync(getMarker(folder), `Data of a reasoning-gym-server is stored here since ${new Date().toISOString()}.\n`)
}

export async function warnIfDataIsGone(folder: string, socket: string, warn: (line: string) => void): Promise<void> {
  if (!existsSync(getMarker(folder)) || (await countRedisKeys(socket)) !== 0) return
  warn(
    `${folder} has held data before, but its append-only file is empty or gone: everything that was accepted is unknown now. If you did not delete it, stop the server and put a copy of the file back`,
  )
}
