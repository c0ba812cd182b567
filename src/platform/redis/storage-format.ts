/** The version of all data under a prefix. Data of another version is rejected, never misread. */
import type { Redis } from 'ioredis'
import type { RedisKeys } from './keys.ts'

export const STORAGE_FORMAT = 5

/** Keys that every server with data had before versions were recorded. */
const UNVERSIONED_KEYS = ['runs', 'samplings:eval', 'samplings:collection']

/** Records the version again: a flushed Redis has lost it, and the next start would treat the data as unversioned. */
export async function restampStorageFormat(redis: Redis, keys: RedisKeys): Promise<void> {
  await redis.set(keys.key('storage-format'), STORAGE_FORMAT, 'NX')
}

/** Records the version if nothing is stored. Returns the version of stored data that this server cannot read. */
export async function claimStorageFormat(redis: Redis, keys: RedisKeys): Promise<number | undefined> {
  // In this order, because a server of this version records it before it stores anything else.
  const found = await Promise.all(UNVERSIONED_KEYS.map((name) => redis.exists(keys.key(name))))
  const key = keys.key('storage-format')
  const stored = await redis.get(key)
  if (stored === null && found.includes(1)) return 1
  if (stored === null) await redis.set(key, STORAGE_FORMAT, 'NX')
  return stored === null || Number(stored) === STORAGE_FORMAT ? undefined : Number(stored)
}
