/**
 * The socket of the private Redis: its path, and commands that are sent over it. Each command has a timeout, because a stuck
 * Redis still accepts connections.
 */
import { createHash } from 'node:crypto'
import { realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { withRedisTimeout } from '../../../platform/redis/connect.ts'
import { createPrivateFolder } from '../private-folder.ts'

const MAX_SOCKET_PATH_CHARS = 100
const ANSWER_TIMEOUT_MS = 2000

export interface RedisSocket {
  path: string
  /** Deletes the temporary folder, if any. */
  remove(): void
}

/**
 * Next to the files of Redis, or in a temporary folder if that path is too long. Stable for a folder and a user, so that the server finds a Redis that a killed server left running.
 */
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

export type RedisAnswer =
  | { kind: 'ready' }
  | { kind: 'loading'; loadedBytes: number; totalBytes: number }
  | { kind: 'silent' }

export async function askRedis(socket: string): Promise<RedisAnswer> {
  try {
    return await withConnection(socket, async (redis) => {
      const error = await redis.ping().then(
        () => undefined,
        (error: Error) => error,
      )
      if (error === undefined) return { kind: 'ready' }
      if (!error.message.startsWith('LOADING')) return { kind: 'silent' }
      const info = await redis.info('persistence')
      const read = (field: string) => Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(info)?.[1] ?? 0)
      return { kind: 'loading', loadedBytes: read('loading_loaded_bytes'), totalBytes: read('loading_total_bytes') }
    })
  } catch {
    return { kind: 'silent' }
  }
}

/** Asks Redis to exit without saving, because the append-only file is complete. */
export async function requestRedisShutdown(socket: string): Promise<void> {
  await withConnection(socket, (redis) => redis.shutdown('NOSAVE')).catch(() => {}) // the connection closes with Redis
}

/** Undefined if Redis does not answer. */
export async function countRedisKeys(socket: string): Promise<number | undefined> {
  return withConnection(socket, (redis) => redis.dbsize()).catch(() => undefined)
}

async function withConnection<T>(socket: string, use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(socket, {
    lazyConnect: true,
    enableReadyCheck: false, // it would wait for a Redis that loads its data
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  })
  redis.on('error', () => {})
  try {
    return await withRedisTimeout(
      ANSWER_TIMEOUT_MS,
      redis.connect().then(() => use(redis)),
    )
  } finally {
    redis.disconnect()
  }
}
