import { randomUUID } from 'node:crypto'
import { afterAll, expect, inject, it } from 'vitest'
import { ItemEntryCache } from '../../../src/features/items/entry-cache.ts'
import { connectForWorkers } from '../../../src/platform/redis/connect.ts'
import { createRedisKeys } from '../../../src/platform/redis/keys.ts'
import { keysOf } from '../../world.ts'

const redis = connectForWorkers({ url: inject('redisUrl'), prefix: '' })
afterAll(() => redis.disconnect())

const prefix = `t${randomUUID().slice(0, 8)}`
const MAX_BYTES_PER_BUCKET = 64 * 1024
const cache = new ItemEntryCache(redis, createRedisKeys(prefix), MAX_BYTES_PER_BUCKET)
const item = (chars: number) => {
  const question = 'x'.repeat(chars)
  return { question, entry: { question, answer: '1', metadata: {} } }
}
/** All keys, by bucket. */
async function listStored(): Promise<Map<string, string[]>> {
  const keys = await keysOf(redis, `{${prefix}:item-entries:*`)
  return Map.groupBy(keys, (key) => key.slice(0, key.indexOf('}')))
}

it('large items take bounded memory: the oldest of a bucket give way, and one above its bound is not kept', async () => {
  const chars = 16_000 // a bucket holds four
  const ids = Array.from({ length: 200 }, (_, k) => `number_sorting.${k}.0.x`)
  for (const id of ids) await cache.store(id, item(chars))
  const buckets = [...(await listStored())]
  const entries = buckets.map(([, keys]) => keys.length - 2) // besides the index and the sum
  expect(Math.max(...entries)).toBe(Math.floor(MAX_BYTES_PER_BUCKET / chars))
  for (const [bucket, keys] of buckets) {
    const sizes = await Promise.all(
      keys.filter((key) => key.includes('number_sorting')).map((key) => redis.strlen(key)),
    )
    expect(Number(await redis.get(`${bucket}}:bytes`))).toBe(sizes.reduce((sum, size) => sum + size, 0))
  }
  expect(await cache.get(ids.at(-1) ?? '')).toMatchObject({ question: 'x'.repeat(chars) })
  await cache.store(ids.at(-1) ?? '', item(chars)) // again: counted once
  await cache.store('too-large', item(MAX_BYTES_PER_BUCKET))
  expect(await cache.get('too-large')).toBeUndefined()
  await Promise.all((await keysOf(redis, `{${prefix}:*`)).map((key) => redis.unlink(key)))
})
