/** Where the private Redis has its socket: beside its files, or in a folder of its own where that path would be too long. */
import { createHash } from 'node:crypto'
import { realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makePrivateFolder } from './own-folder.ts'

const SOCKET_PATH_MAX = 100

export interface SocketPlace {
  path: string
  /** Takes away the folder that was made for it. */
  remove(): void
}

/** The same at every start for a folder and a user: so a Redis that a killed server left behind is found. */
export function socketPlace(folder: string): SocketPlace {
  const beside = join(folder, 'redis.sock')
  if (beside.length <= SOCKET_PATH_MAX) return { path: beside, remove() {} }
  const whose = `${process.getuid?.()} ${realpathSync(folder)}`
  const hash = createHash('sha256').update(whose).digest('hex').slice(0, 16)
  const place = join(tmpdir(), `rgs-redis-${hash}`)
  makePrivateFolder(place)
  return { path: join(place, 'redis.sock'), remove: () => rmSync(place, { recursive: true, force: true }) }
}
