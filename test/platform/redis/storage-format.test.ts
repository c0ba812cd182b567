import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { connectForRequests, waitUntilReady } from '../../../src/platform/redis/connect.ts'
import { createRedisKeys } from '../../../src/platform/redis/keys.ts'
import { claimStorageFormat, STORAGE_FORMAT } from '../../../src/platform/redis/storage-format.ts'

const redis = connectForRequests({ url: inject('redisUrl'), prefix: '' })
const createKeys = () => createRedisKeys(`t${randomUUID().slice(0, 8)}`)

beforeAll(() => waitUntilReady(redis, 10_000))
afterAll(() => redis.disconnect())

it('an empty Redis takes the format, and data that is stored then opens again', async () => {
  const keys = createKeys()
  expect(await claimStorageFormat(redis, keys)).toBeUndefined()
  await redis.sadd(keys.key('runs'), 'run')
  expect(await claimStorageFormat(redis, keys)).toBeUndefined()
})

it('runs without a noted format are of format 1', async () => {
  const keys = createKeys()
  await redis.sadd(keys.key('runs'), 'run')
  expect(await claimStorageFormat(redis, keys)).toBe(1)
})

it('a later format is refused as well', async () => {
  const keys = createKeys()
  await redis.set(keys.key('storage-format'), STORAGE_FORMAT + 1)
  expect(await claimStorageFormat(redis, keys)).toBe(STORAGE_FORMAT + 1)
})
