import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { afterAll, expect, inject, it } from 'vitest'
import type { ModelSpec } from '../../../src/features/evals/models/spec.ts'
import { type CollectionSpec, createGenerationJobKeys, type EvalSpec } from '../../../src/features/evals/records.ts'
import { GenerationJobRepository } from '../../../src/features/evals/repository.ts'
import { SampleRepository } from '../../../src/features/evals/samples/repository.ts'
import { connectForWorkers } from '../../../src/platform/redis/connect.ts'
import { createRedisKeys } from '../../../src/platform/redis/keys.ts'
import { redisNow } from '../../../src/platform/redis/redis-clock.ts'
import { deleteKeys, keysOf, until, waitForNotification } from '../../world.ts'

const prefix = `t${randomUUID().slice(0, 8)}`
const keys = createRedisKeys(prefix)
const jobKeys = createGenerationJobKeys(keys)
const redis = connectForWorkers({ url: inject('redisUrl'), prefix: '' })
const jobs = new GenerationJobRepository(redis, keys)
const samples = new SampleRepository(redis, keys)
afterAll(async () => {
  await deleteKeys(redis, prefix)
  redis.disconnect()
})

const DAY_MS = 24 * 60 * 60 * 1000
const SPEC: EvalSpec = {
  kind: 'eval',
  model: null,
  suite: { name: 'custom', version: null, sha256: null, items: 2 },
  samples_per_item: 1,
  temperature: null,
  grading_rules: { extraction: 'strict', stop: null, opens_thinking: false, dual_format: true, scoring: 'upstream' },
  prompt: { system_prompt: null, system_prompt_role: 'system', clarify: false },
  run: null,
  step: null,
  labels: [],
  engine: '0.1.25',
  server: 'test',
}
const MODEL: ModelSpec = {
  name: 'm',
  base_url: 'http://127.0.0.1:9/v1',
  egress_policy: { allow_loopback: true, allowed_hosts: [] },
  params: { temperature: 1, timeout_s: 1, retries: 0 },
  concurrency: 1,
}
const newId = () => `eval-${randomUUID().slice(-12)}`
async function createEval(repository = jobs, spec: Partial<EvalSpec> = {}): Promise<string> {
  const id = newId()
  const items = ['item', 'other']
  await repository.create({ id, spec: { ...SPEC, ...spec }, total: 2, items, modelApiKey: undefined })
  return id
}
async function createCollection(run: string): Promise<string> {
  const id = newId()
  const size = { groups: 1, group_size: 1, buffer: true }
  const spec: CollectionSpec = { kind: 'collection', model: MODEL, run, incarnation: randomUUID(), ...size }
  await jobs.create({ id, spec, total: 1, items: [], modelApiKey: undefined })
  return id
}
const cancel = (id: string, repository = jobs) => repository.end(id, { status: 'cancelled', result: null, event: null })

/** In how many days each key of a job expires; -1: never. */
async function getLifetimes(id: string): Promise<Record<string, number>> {
  const lifetimes: [string, number][] = []
  for (const [name, key] of Object.entries(jobKeys.forGenerationJob(id))) {
    const ms = await redis.pttl(key)
    if (ms !== -2) lifetimes.push([name, ms < 0 ? -1 : Math.ceil(ms / DAY_MS)])
  }
  return Object.fromEntries(lifetimes)
}

/** A Redis that goes away after the next script. */
function failAfterScript(): Redis {
  let isAway = false
  return new Proxy(redis, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return async (...args: unknown[]) => {
        if (isAway) throw new Error('Connection is closed.')
        const answer: unknown = await value.apply(target, args)
        if (!String(name).endsWith('.lua')) return answer // a script is a command named by its path
        isAway = true
        throw new Error('Connection is closed.')
      }
    },
  })
}

it('a resumed job is active and does not expire, even if Redis goes away while it is resumed', async () => {
  const id = await createEval()
  await samples.storeOutput(id, 0, { output: Buffer.from('text') })
  expect(await cancel(id)).toBe(true)
  expect(await jobs.listActive()).toEqual([])
  await expect(new GenerationJobRepository(failAfterScript(), keys).reopen(id, [], undefined)).rejects.toThrow('closed')
  expect(await jobs.getStatus(id)).toBe('running')
  expect(await jobs.listActive()).toMatchObject([{ id }])
  expect(await getLifetimes(id)).toEqual({ job: -1, items: -1, outputs: -1, events: -1 })
  await cancel(id)
})

it('an ended job expires, even if Redis goes away while it ends', async () => {
  const id = await createEval()
  await expect(cancel(id, new GenerationJobRepository(failAfterScript(), keys))).rejects.toThrow('closed')
  expect(await getLifetimes(id)).toEqual({ job: 90, items: 7, events: 7 })
  await jobs.markInactive(id)
})

it('what a slot stores after its job has ended expires with the job', async () => {
  const id = await createEval()
  const none = await createCollection('r')
  await Promise.all([cancel(id), cancel(none)])
  expect(await samples.storeOutput(id, 0, { output: Buffer.from('text') })).toBe(true)
  expect(await samples.appendItems(none, 0, ['item'])).toBe(true)
  expect(await samples.appendItems(none, 0, ['other'])).toBe(false) // after the item that was appended meanwhile
  expect(await getLifetimes(id)).toMatchObject({ outputs: 7 })
  expect(await getLifetimes(none)).toMatchObject({ items: 7 })
  const gone = newId()
  expect(await samples.storeOutput(gone, 0, { output: Buffer.from('text') })).toBe(false)
  expect(await samples.appendItems(gone, 0, ['item'])).toBe(false)
  expect(await getLifetimes(gone)).toEqual({})
})

it('texts that were cut within an emoji are stored', async () => {
  const id = await createEval()
  const half = '😀'.slice(0, 1)
  const failures = [{ code: 'generation_failed' as const, detail: half }]
  const verdict = { score: null, answer: half }
  expect(await samples.record(id, 0, { verdict, score: null, failures })).toMatchObject({ kind: 'recorded', done: 1 })
  await jobs.end(id, { status: 'failed', result: null, detail: half, event: null })
  expect(await jobs.get(id)).toMatchObject({ detail: '\uFFFD', failures: [{ reason: '\uFFFD', count: 1 }] })
})

it('stored failures that cannot be read do not keep a sample from being recorded', async () => {
  const id = await createEval()
  const { job } = jobKeys.forGenerationJob(id)
  const failed = { verdict: { score: null, answer: '' }, score: null }
  const failures = [{ code: 'generation_failed' as const, detail: 'why' }]
  for (const [sample, odd] of ['{"cut', '[7]'].entries()) {
    await redis.hset(job, 'failures', odd)
    const recorded = await samples.record(id, sample, { ...failed, failures })
    expect(recorded).toMatchObject({ kind: 'recorded', isNew: true, done: sample + 1 })
  }
  expect((await jobs.get(id))?.failures).toMatchObject([{ reason: 'why', count: 1 }])
})

it('a job whose samples have expired is not resumed', async () => {
  const id = await createEval()
  await cancel(id)
  const { job, items, events } = jobKeys.forGenerationJob(id)
  await redis.pexpire(job, 83 * DAY_MS)
  await redis.unlink(items, events)
  expect(await jobs.reopen(id, [], undefined)).toBe(false)
  expect(await jobs.getStatus(id)).toBe('cancelled')
})

it('the oldest jobs are deleted, but never an active one', async () => {
  const fewKeys = createRedisKeys(`${prefix}few`)
  const few = new GenerationJobRepository(redis, fewKeys, 2)
  const ids = [await createEval(few), await createEval(few), await createEval(few), await createEval(few)] as const
  const [working, resumed, ended, last] = ids
  const index = createGenerationJobKeys(fewKeys).generationJobs('eval')
  for (const [age, id] of ids.entries()) await redis.zadd(index, age, id) // the clock may have been set back between them
  await cancel(resumed, few)
  await cancel(ended, few)
  await few.reopen(resumed, [], undefined)
  const newest = await createEval(few)
  expect((await few.listIds('eval')).toSorted()).toEqual([newest, last, resumed, working].toSorted())
  expect(await few.get(ended)).toBeUndefined()
  expect((await few.listActive()).map(({ id }) => id).toSorted()).toEqual([working, resumed, last, newest].toSorted())
})

it('outputs that are deleted, generated again or replaced no longer count', async () => {
  const id = await createEval()
  const bytes = async () => Number(await redis.hget(jobKeys.forGenerationJob(id).job, 'output_bytes'))
  const [long, text] = [Buffer.from('long text'), Buffer.from('text')]
  await samples.storeOutput(id, 0, { output: long })
  expect(await samples.storeOutput(id, 0, { output: text, replaces: long })).toBe(true)
  await samples.storeOutput(id, 1, { output: Buffer.from('another') })
  expect(await bytes()).toBe(11)
  await samples.deleteOutputs(id, [1, 7])
  expect(await bytes()).toBe(4)
  await cancel(id)
  await jobs.reopen(id, [0], undefined)
  expect([await bytes(), await samples.getOutput(id, 0)]).toEqual([0, undefined])
  await cancel(id)
})

it('of two outputs of a sample the first counts, and no output comes after the verdict', async () => {
  const id = await createEval()
  const [first, second] = [Buffer.from('first'), Buffer.from('second')]
  expect(await samples.storeOutput(id, 0, { output: first })).toBe(true)
  expect(await samples.storeOutput(id, 0, { output: second })).toBe(false)
  expect(await samples.storeOutput(id, 0, { output: second, replaces: second })).toBe(false)
  expect(await samples.getOutput(id, 0)).toEqual(first)
  await samples.record(id, 1, { verdict: {}, score: 1, failures: [] })
  expect(await samples.storeOutput(id, 1, { output: second, verdict: 1 })).toBe(false)
  expect(await samples.getOutput(id, 1)).toBeUndefined()
  await cancel(id)
})

it('a worker that stalls releases its slot only while that has the sample', async () => {
  const id = await createEval()
  const claimed = async () => redis.hget(jobKeys.forGenerationJob(id).claims, '3')
  expect(await samples.claim(id, 3)).toEqual({ kind: 'sample', sample: 0 })
  await samples.releaseSlot(id, 3, 0)
  expect(await samples.claim(id, 3)).toEqual({ kind: 'sample', sample: 1 })
  await samples.releaseSlot(id, 3, 0)
  await samples.record(id, 0, { verdict: {}, score: 1, failures: [], slot: 3, claimed: 0 })
  expect(await claimed()).toBe('1')
  await samples.record(id, 0, { verdict: {}, score: 1, failures: [], slot: 3, claimed: 1 })
  expect(await claimed()).toBeNull()
  await cancel(id)
})

/** Counts how often a command is sent while none is in flight: the round trips that follow one another. */
function countRoundTrips(): { redis: Redis; count: () => number } {
  let inFlight = 0
  let roundTrips = 0
  const counting = new Proxy(redis, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (inFlight++ === 0) roundTrips++
        return Promise.resolve(value.apply(target, args)).finally(() => {
          inFlight--
        })
      }
    },
  })
  return { redis: counting, count: () => roundTrips }
}

async function listIds(repository: GenerationJobRepository, ...args: Parameters<GenerationJobRepository['list']>) {
  const ids: string[] = []
  for await (const { id } of repository.list(...args)) ids.push(id)
  return ids
}

it('a list of many jobs takes a few round trips, and of a run with few jobs two', async () => {
  const manyKeys = createRedisKeys(`${prefix}many`)
  const filling = new GenerationJobRepository(redis, manyKeys)
  const ids: string[] = []
  for (let k = 0; k < 199; k++) ids.push(await createEval(filling, { run: k % 50 === 0 ? 'rare' : 'common' }))

  const all = countRoundTrips()
  expect((await listIds(new GenerationJobRepository(all.redis, manyKeys), 'eval')).toSorted()).toEqual(ids.toSorted())
  expect(all.count()).toBe(3) // the index and two pages
  const rare = countRoundTrips()
  expect(await listIds(new GenerationJobRepository(rare.redis, manyKeys), 'eval', 'rare')).toHaveLength(4)
  expect(rare.count()).toBe(2)
})

it('a job is listed under its kind and its run, until it is deleted', async () => {
  const few = new GenerationJobRepository(redis, createRedisKeys(`${prefix}lists`), 2)
  const a = await createEval(few, { run: 'a' })
  const created = redisNow()
  await until(
    async () => redisNow(),
    (now) => now > created, // jobs of one millisecond have no order
  )
  const [b, none] = [await createEval(few, { run: 'b' }), await createEval(few)]
  expect([await listIds(few, 'eval', 'a'), await listIds(few, 'eval', 'b')]).toEqual([[a], [b]])
  expect([await listIds(few, 'eval', 'none'), await listIds(few, 'collection', 'a')]).toEqual([[], []])
  await cancel(a, few)
  const newest = await createEval(few, { run: 'a' })
  expect(await listIds(few, 'eval', 'a')).toEqual([newest])
  expect((await listIds(few, 'eval')).toSorted()).toEqual([b, none, newest].toSorted())
  for (const key of await keysOf(redis, `*${prefix}lists*`)) expect([key, key.includes(a)]).toEqual([key, false])
})

it('a list drops the entries of jobs that have expired', async () => {
  const expiredKeys = createRedisKeys(`${prefix}expired`)
  const expiring = createGenerationJobKeys(expiredKeys)
  const repository = new GenerationJobRepository(redis, expiredKeys)
  const [expired, starting] = [await createEval(repository, { run: 'r' }), await createEval(repository, { run: 'r' })]
  for (const id of [expired, starting]) await redis.del(expiring.forGenerationJob(id).job)
  for (const index of [expiring.generationJobs('eval'), expiring.generationJobsOfRun('eval', 'r')])
    await redis.zadd(index, String(Date.now() - 90 * DAY_MS), expired)
  expect(await listIds(repository, 'eval', 'r')).toEqual([])
  expect(await repository.listIds('eval')).toEqual([starting]) // its creation may still be in progress
  expect(await redis.zrange(expiring.generationJobsOfRun('eval', 'r'), '0', '-1')).toEqual([starting])
})

it('events of progress and of the end are announced', async () => {
  const id = await createEval()
  const topic = jobs.getEventTopic(id)
  await waitForNotification(keys, topic, () => samples.record(id, 0, { verdict: {}, score: 1, failures: [] }))
  await waitForNotification(keys, topic, () => cancel(id))
})

it('an eval is resumed, however many of its samples failed', async () => {
  const id = await createEval()
  await cancel(id)
  const failed = Array.from({ length: 200_000 }, (_, k) => k)
  expect(await jobs.reopen(id, failed, undefined)).toBe(true)
  expect(await redis.llen(jobKeys.forGenerationJob(id).retries)).toBe(failed.length)
})
