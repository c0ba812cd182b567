/** Chooses the socket path of the private Redis: next to its files, or in a temporary folder if that path is too long. */
import { createHash } from 'node:crypto'
import { realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPrivateFolder } from './private-folder.ts'

const MAX_SOCKET_PATH_CHARS = 100

export interface RedisSocket {
  path: string
  /** Deletes the temporary folder, if any. */
  remove(): void
}

/** Stable for a folder and a user, so that the server finds a Redis that a killed server left running. */
export function createRedisSocket(folder: string): RedisSocket {
  const beside = join(folder, 'redis.sock')
  if (beside.length <= MAX_SOCKET_PATH_CHARS) return { path: beside, remove() {} }
  const ownerKey = `${process.getuid?.()} ${realpathSync(folder)}`
  const hash = createHash('sha256').update(ownerKey).digest('hex').slice(0, 16)
  const fallbackFolder = join(tmpdir(), `rgs-redis-${hash}`)
  createPrivateFolder(fallbackFolder)
  return {
    path: join(fallbackFolder, 'redis.sock'),
    remove: () => rmSync(fallbackFolder, { recursive: true, force: true }),
  }
}
