import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { afterAll, expect, inject, it } from 'vitest'
import { GenerationJobRepository } from '../../../src/features/evals/generation-job-repository.ts'
import { createGenerationJobKeys } from '../../../src/features/evals/keys.ts'
import { SampleRepository } from '../../../src/features/evals/sample-repository.ts'
import { scanKeys } from '../../../src/platform/redis/cluster.ts'
import { connectForWorkers } from '../../../src/platform/redis/connect.ts'
import { createRedisKeys } from '../../../src/platform/redis/keys.ts'

const prefix = `t${randomUUID().slice(0, 8)}`
const keys = createRedisKeys(prefix)
const redis = connectForWorkers({ url: inject('redisUrl'), prefix: '' })
const samplings = new GenerationJobRepository(redis, keys)
const samples = new SampleRepository(redis, keys)
afterAll(async () => {
  for await (const { node, keys: some } of scanKeys(redis, `*${prefix}*`)) await node.unlink(...some)
  redis.disconnect()
})

const DAY_MS = 24 * 60 * 60 * 1000
const idOf = () => `eval-${randomUUID().slice(-12)}`
async function begun(book = samplings): Promise<string> {
  const id = idOf()
  await book.create('eval', { id, spec: {}, total: 2, items: ['item', 'other'], modelApiKey: undefined })
  return id
}
const cancel = (id: string, book = samplings) => book.end(id, { status: 'cancelled', result: null, news: null })

/** How long what there is of a sampling is still kept, in days; -1: for ever. */
async function lifetimes(id: string): Promise<Record<string, number>> {
  const found: [string, number][] = []
  for (const [name, key] of Object.entries(createGenerationJobKeys(keys).forGenerationJob(id))) {
    const ms = await redis.pttl(key)
    if (ms !== -2) found.push([name, ms < 0 ? -1 : Math.ceil(ms / DAY_MS)])
  }
  return Object.fromEntries(found)
}

/** Redis goes away once it has done the next script. */
function awayAfterScript(): Redis {
  let away = false
  return new Proxy(redis, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return async (...args: unknown[]) => {
        if (away) throw new Error('Connection is closed.')
        const answer: unknown = await value.apply(target, args)
        if (!String(name).endsWith('.lua')) return answer // scripts are commands that are named by their path
        away = true
        throw new Error('Connection is closed.')
      }
    },
  })
}

it('a sampling that runs again is looked after and kept, also where Redis goes away while it is opened', async () => {
  const id = await begun()
  await samples.storeCompletion(id, 0, Buffer.from('text'))
  expect(await cancel(id)).toBe(true)
  expect(await samplings.listActive()).toEqual([])
  await expect(new GenerationJobRepository(awayAfterScript(), keys).reopen(id, [], undefined)).rejects.toThrow('closed')
  expect(await samplings.getStatus(id)).toBe('running')
  expect(await samplings.listActive()).toMatchObject([{ id }])
  expect(await lifetimes(id)).toEqual({ job: -1, items: -1, completions: -1, events: -1 })
  await cancel(id)
})

it('what has ended is kept for its time, also where Redis goes away as it ends', async () => {
  const id = await begun()
  await expect(cancel(id, new GenerationJobRepository(awayAfterScript(), keys))).rejects.toThrow('closed')
  expect(await lifetimes(id)).toEqual({ job: 90, items: 7, events: 7 })
  await samplings.markInactive(id)
})

it('what a lane that was at work then still brings is kept no longer', async () => {
  const id = await begun()
  const none = idOf()
  await samplings.create('collection', { id: none, spec: {}, total: 1, items: [], modelApiKey: undefined })
  await Promise.all([cancel(id), cancel(none)])
  expect(await samples.storeCompletion(id, 0, Buffer.from('text'))).toBe(true)
  await samples.appendItems(none, ['item'])
  expect(await lifetimes(id)).toMatchObject({ completions: 7 })
  expect(await lifetimes(none)).toMatchObject({ items: 7 })
  const gone = idOf()
  expect(await samples.storeCompletion(gone, 0, Buffer.from('text'))).toBe(false)
  await samples.appendItems(gone, ['item'])
  expect(await lifetimes(gone)).toEqual({})
})

it('a sampling whose samples are no longer kept is not opened again', async () => {
  const id = await begun()
  await cancel(id)
  const { job: sampling, items, events } = createGenerationJobKeys(keys).forGenerationJob(id)
  await redis.pexpire(sampling, 83 * DAY_MS)
  await redis.unlink(items, events)
  expect(await samplings.reopen(id, [], undefined)).toBe(false)
  expect(await samplings.getStatus(id)).toBe('cancelled')
})

it('the oldest are forgotten, but none that is at work', async () => {
  const few = new GenerationJobRepository(redis, createRedisKeys(`${prefix}few`), 2)
  const [working, resumed, ended, last] = [await begun(few), await begun(few), await begun(few), await begun(few)]
  await cancel(resumed, few)
  await cancel(ended, few)
  await few.reopen(resumed, [], undefined)
  const newest = await begun(few)
  expect((await few.listIds('eval')).toSorted()).toEqual([newest, last, resumed, working].toSorted())
  expect(await few.get(ended)).toBeUndefined()
  expect((await few.listActive()).map(({ id }) => id).toSorted()).toEqual([working, resumed, last, newest].toSorted())
})

it('texts that are forgotten, asked for again or replaced make room for others', async () => {
  const id = await begun()
  const bytes = async () => Number(await redis.hget(createGenerationJobKeys(keys).forGenerationJob(id).job, 'bytes'))
  for (const text of ['long text', 'text']) await samples.storeCompletion(id, 0, Buffer.from(text))
  await samples.storeCompletion(id, 1, Buffer.from('another'))
  expect(await bytes()).toBe(11)
  await samples.deleteCompletions(id, [1, 7])
  expect(await bytes()).toBe(4)
  await cancel(id)
  await samplings.reopen(id, [0], undefined)
  expect([await bytes(), await samples.getCompletion(id, 0)]).toEqual([0, undefined])
  await cancel(id)
})
