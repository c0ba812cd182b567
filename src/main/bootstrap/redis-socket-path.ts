/** Where the private Redis has its socket: beside its files, or in a folder of its own where that path would be too long. */
import { createHash } from 'node:crypto'
import { realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPrivateFolder } from './private-folder.ts'

const MAX_SOCKET_PATH_CHARS = 100

export interface RedisSocket {
  path: string
  /** Takes away the folder that was made for it. */
  remove(): void
}

/** The same at every start for a folder and a user: so a Redis that a killed server left behind is found. */
export function createRedisSocket(folder: string): RedisSocket {
  const beside = join(folder, 'redis.sock')
  if (beside.length <= MAX_SOCKET_PATH_CHARS) return { path: beside, remove() {} }
  const whose = `${process.getuid?.()} ${realpathSync(folder)}`
  const hash = createHash('sha256').update(whose).digest('hex').slice(0, 16)
  const place = join(tmpdir(), `rgs-redis-${hash}`)
  createPrivateFolder(place)
  return { path: join(place, 'redis.sock'), remove: () => rmSync(place, { recursive: true, force: true }) }
}
