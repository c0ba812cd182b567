import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { claimStorageFormat, STORAGE_FORMAT } from '../../../src/main/storage-checks.ts'
import { connectForRequests, waitUntilReady } from '../../../src/platform/redis/connect.ts'
import { createRedisKeys } from '../../../src/platform/redis/keys.ts'

const redis = connectForRequests({ url: inject('redisUrl'), prefix: '' })
const createKeys = () => createRedisKeys(`t${randomUUID().slice(0, 8)}`)

beforeAll(() => waitUntilReady(redis, 40_000))
afterAll(() => redis.disconnect())

it('an empty Redis takes the format, and data that is stored then opens again', async () => {
  const keys = createKeys()
  expect(await claimStorageFormat(redis, keys)).toBeUndefined()
  await redis.sadd(keys.key('runs'), 'run')
  expect(await claimStorageFormat(redis, keys)).toBeUndefined()
})

it('runs without a version are rejected, and stay as they are', async () => {
  const keys = createKeys()
  await redis.sadd(keys.key('runs'), 'run')
  expect(await claimStorageFormat(redis, keys)).toBe('an unknown format')
  expect(await redis.exists(keys.key('storage-format'))).toBe(0)
})

it.each([5, STORAGE_FORMAT + 1])('data of format %i is rejected', async (format) => {
  const keys = createKeys()
  await redis.set(keys.key('storage-format'), format)
  await redis.sadd(keys.key('runs'), 'run')
  expect(await claimStorageFormat(redis, keys)).toBe(`format ${format}`)
  expect(await redis.get(keys.key('storage-format'))).toBe(String(format))
})
