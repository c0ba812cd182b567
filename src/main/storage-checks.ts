/** Checks at the start whether Redis answers, and whether this server fits the format of its data and the engines of other servers. */
import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import type { EngineVersionClaim } from '../features/operations/engine-version-claim.ts'
import { connectForProbe, type RedisConfig, waitUntilReady } from '../platform/redis/connect.ts'
import type { RedisKeys } from '../platform/redis/keys.ts'
import { retry } from '../platform/retry.ts'
import { errorMessage } from '../platform/throttled-log.ts'
import { StartupError } from './bootstrap/startup-report.ts'
import type { WorkerService } from './compose.ts'

const REDIS_READY_TIMEOUT_MS = 5000
const RETRY_INTERVAL_MS = 500

/**
 * Prevents a server from opening data of another storage format, which it might misread. Throws a StartupError. While Redis is
 * unavailable, the check waits in the background.
 */
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

/** The version of all data under a prefix. */
export const STORAGE_FORMAT = 2

/** Records the version again: a flushed Redis has lost it, and the next start would treat the data as unversioned. */
export async function restampStorageFormat(redis: Redis, keys: RedisKeys): Promise<void> {
  await redis.set(keys.key('storage-format'), STORAGE_FORMAT, 'NX')
}

/**
 * Records the version if nothing is stored. Returns the format of stored data that this server cannot read, in words:
 * `format 5`, or `an unknown format` for data without a version.
 */
export async function claimStorageFormat(redis: Redis, keys: RedisKeys): Promise<string | undefined> {
  const key = keys.key('storage-format')
  // In this order, because a server records the version before it stores anything else.
  const hasRuns = (await redis.exists(keys.key('runs'))) === 1
  const stored = await redis.get(key)
  if (stored !== null) return stored === String(STORAGE_FORMAT) ? undefined : `format ${stored}`
  if (hasRuns) return 'an unknown format'
  await redis.set(key, STORAGE_FORMAT, 'NX')
  return undefined
}

/** Prevents servers with different engine versions from sharing a Redis. */
export async function requireEngineVersionClaim({
  platform: { log, identity },
  engine: { version },
  features: { operations },
}: WorkerService): Promise<EngineVersionClaim> {
  const conflictMessage = (otherVersion: string) =>
    `Process ${lastProcessSeen} uses this Redis with reasoning-gym ${otherVersion}, but this server has ${version}. Stop the other servers, or set REDIS_PREFIX to another name.`
  let lastVersionSeen = ''
  let lastProcessSeen = ''
  const claim = await operations.claimEngineVersion({
    processName: identity.process,
    onConflict(otherVersion, otherProcess) {
      if (lastVersionSeen !== otherVersion)
        log.warn(`waiting for process ${otherProcess} with reasoning-gym ${otherVersion} to end. Stop that server`)
      lastVersionSeen = otherVersion
      lastProcessSeen = otherProcess
    },
    onClaimLost(otherVersion, otherProcess) {
      lastProcessSeen = otherProcess
      log.fatal(conflictMessage(otherVersion))
      process.kill(process.pid, 'SIGTERM')
    },
  })
  if (!claim) throw new StartupError(conflictMessage(lastVersionSeen))
  return claim
}

/** First warning, repeated warnings, and the end of the start. */
const REDIS_WAIT = { firstMs: 900, repeatMs: 10_000, timeoutMs: 60_000 }

/** Waits until Redis answers. Warns in one line that it does not, repeats that, and at the end throws it as a StartupError. */
export async function requireRedis(
  redisConfig: Pick<RedisConfig, 'url' | 'tls'>,
  log: Logger,
  { firstMs, repeatMs, timeoutMs } = REDIS_WAIT,
): Promise<void> {
  const redis = connectForProbe(redisConfig)
  const startedAt = performance.now()
  try {
    for (let waitMs = firstMs; ; waitMs = repeatMs) {
      try {
        return await waitUntilReady(redis, waitMs)
      } catch (cause) {
        const advice = `${errorMessage(cause)}. Start Redis, or correct REDIS_URL`
        if (performance.now() - startedAt >= timeoutMs) throw new StartupError(advice, { cause })
        log.warn(advice)
      }
    }
  } finally {
    redis.disconnect()
  }
}
