/** The version of all data under a prefix. Data of another version is rejected, never misread. */
import type { Redis } from 'ioredis'
import type { RedisKeys } from './keys.ts'

export const STORAGE_FORMAT = 1

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
