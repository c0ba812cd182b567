/** Prevents a server from opening data of another storage format. */
import type { Redis } from 'ioredis'
import { waitUntilReady } from '../platform/redis/connect.ts'
import { claimStorageFormat, STORAGE_FORMAT } from '../platform/redis/storage-format.ts'
import { retry } from '../platform/retry.ts'
import { StartupError } from './bootstrap/startup-error.ts'
import type { WorkerService } from './compose.ts'

const REDIS_READY_TIMEOUT_MS = 5000
const RETRY_INTERVAL_MS = 500

/** Throws a StartupError for data of another format. While Redis is unavailable, the check waits in the background. */
export async function requireStorageFormat({ platform: { redis, keys, log } }: WorkerService): Promise<void> {
  await waitUntilReady(redis, REDIS_READY_TIMEOUT_MS).catch(() => {})
  try {
    await check()
  } catch (error) {
    if (error instanceof StartupError) throw error
    void checkOnceRedisIsBack()
  }

  async function check(): Promise<void> {
    await requireDatabase(redis)
    const other = await claimStorageFormat(redis, keys)
    if (other !== undefined) throw new StartupError(mismatchMessage(other))
  }

  async function checkOnceRedisIsBack(): Promise<void> {
    const checkUnlessClosed = async () => {
      if (redis.status !== 'end') await check()
    }
    const onError = (error: unknown) => {
      if (!(error instanceof StartupError)) return // still unavailable
      log.fatal(error.message)
      process.kill(process.pid, 'SIGTERM')
      throw error
    }
    await retry(checkUnlessClosed, { pauseMs: RETRY_INTERVAL_MS, onError }).catch(() => {}) // reported
  }
}

/** For a missing database, ioredis reports an error and continues with database 0, which may belong to another server. */
async function requireDatabase(redis: Redis): Promise<void> {
  const db = (redis.options as Redis['options'] | undefined)?.db ?? 0 // a cluster has none
  if (db === 0) return
  await redis.select(db).catch((cause: Error) => {
    if (!cause.message.includes('out of range')) throw cause
    throw new StartupError(
      `REDIS_URL names database ${db}, which this Redis does not have. Correct the number, or raise "databases" in the configuration of Redis.`,
      { cause },
    )
  })
}

function mismatchMessage(other: string): string {
  return `The stored data has ${other}, but this server reads format ${STORAGE_FORMAT}. Start with an empty DATA_DIR or another REDIS_PREFIX, or use the server version that wrote the data.`
}
