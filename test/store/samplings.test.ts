import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { afterAll, expect, inject, it } from 'vitest'
import { keysUnder } from '../../src/store/keys.ts'
import { connectForWork } from '../../src/store/redis.ts'
import { Samplings } from '../../src/store/samplings.ts'

const keys = keysUnder(`t${randomUUID().slice(0, 8)}`)
const redis = connectForWork({ url: inject('redisUrl'), prefix: '' })
const id = 'eval-0123456789ab'
afterAll(async () => {
  await redis.unlink(keys.samplings('eval'), keys.activeSamplings, ...Object.values(keys.ofSampling(id)))
  redis.disconnect()
})

it('a sampling that runs again is looked after, also where Redis goes away while it is opened', async () => {
  const samplings = new Samplings(redis, keys)
  await samplings.create('eval', { id, spec: {}, total: 1, items: ['item'], secret: undefined })
  expect(await samplings.end(id, { status: 'cancelled', result: null, news: null })).toBe(true)
  expect(await samplings.active()).toEqual([])
  const away = new Proxy(redis, {
    get(target, name) {
      if (name === 'persist') return () => Promise.reject(new Error('Connection is closed.'))
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  await expect(new Samplings(away as Redis, keys).reopen(id, [], undefined)).rejects.toThrow('closed')
  expect(await samplings.status(id)).toBe('running')
  expect(await samplings.active()).toMatchObject([{ id }])
})
