import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { ActiveJobQuota } from '../../src/features/evals/active-job-quota.ts'
import { createGenerationJobKeys } from '../../src/features/evals/records.ts'
import { loadKeyRing } from '../../src/http/auth/key-ring.ts'
import { type ExchangeUsage, RateLimiter, type RateLimits, shareUsage } from '../../src/http/rate-limit.ts'
import { createRedisKeys } from '../../src/platform/redis/keys.ts'
import { openWorld, until, type World } from '../world.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

/** A time in the middle of a minute. */
const NOON = Date.parse('2026-01-01T12:00:30Z')

async function limited(limits: Partial<RateLimits>, prefix?: string): Promise<World> {
  let world: World | undefined
  const all = { requests: null, bytes: null, anonymousRequests: null, ...limits }
  let exchange: ExchangeUsage | undefined
  const exchangeSoon: ExchangeUsage = async (...usage) => {
    if (!world) throw new Error('nothing is told before the world is open')
    exchange ??= shareUsage(world.platform.redis, createRedisKeys(world.prefix))
    return exchange(...usage)
  }
  const rateLimiter = new RateLimiter(all, exchangeSoon, () => NOON) // a minute that began while the test runs would allow more
  open.push(rateLimiter)
  const keyRing = loadKeyRing({ API_KEYS: 'reader:look,trainer:train,admin:rule', API_KEYS_FILE: undefined })
  world = await openWorld({ keyRing, rateLimiter, ...(prefix !== undefined && { prefix }) })
  open.push(world)
  return world
}

const look = { authorization: 'Bearer look' }
const statuses = async (world: World, times: number, headers: Record<string, string> = look, url = '/tasks') => {
  const answers = []
  for (let k = 0; k < times; k++) answers.push(await world.call('GET', url, undefined, headers))
  return answers.map(({ status }) => status)
}

describe('a key that asks for too much', () => {
  it('is told when to ask again, and others go on', async () => {
    const world = await limited({ requests: 3 })
    expect(await statuses(world, 4)).toEqual([200, 200, 200, 429])
    const refused = await world.call('GET', '/tasks', undefined, look)
    expect(refused.body).toMatchObject({ code: 'rate_limited', status: 429 })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60)
    expect(await statuses(world, 1, { 'x-api-key': 'train' })).toEqual([200])
  })

  it('is known at every node', async () => {
    const here = await limited({ requests: 20 })
    const there = await limited({ requests: 20 }, here.prefix)
    expect(await statuses(here, 20)).not.toContain(429)
    await until(
      async () => (await statuses(there, 1))[0],
      (status) => status === 429,
    )
  })

  it('of bytes is refused before the next body is read, whether its length was announced or not', async () => {
    const world = await limited({ bytes: 1000 })
    await world.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = world.app.server.address() as AddressInfo // it listens on a port
    const post = (body: string, key: string, headers: Record<string, string>) => {
      const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
      const sent = request({ port, method: 'POST', path: '/score', headers: { ...headers, 'x-api-key': key } })
      sent.once('response', (response) => resolve(response.resume().statusCode)).once('error', reject)
      sent.end(body)
      return promise
    }
    const json = { 'content-type': 'application/json' }
    const body = JSON.stringify({ pad: 'x'.repeat(990) })
    expect(await post(body, 'train', { ...json, 'transfer-encoding': 'chunked' })).toBe(400)
    expect(await post(body, 'train', { ...json, 'transfer-encoding': 'chunked' })).toBe(429)
    expect(await post(body, 'rule', { ...json, 'content-length': String(body.length) })).toBe(400)
    expect(await post(body, 'rule', { ...json, 'content-length': String(body.length) })).toBe(429)
  })
})

describe('a flood without a key', () => {
  it('is limited before it is refused, wherever it goes, and does not shut out who has a key', async () => {
    const world = await limited({ anonymousRequests: 3 })
    expect(await statuses(world, 3, {})).toEqual([401, 401, 401])
    expect(await statuses(world, 1, { 'x-api-key': 'guess' })).toEqual([429])
    expect(await statuses(world, 1, {}, '/nowhere')).toEqual([429])
    expect(await statuses(world, 1)).toEqual([200])
  })
})

describe('probes', () => {
  it('are answered whatever their address has used, and use nothing themselves', async () => {
    const world = await limited({ anonymousRequests: 1, requests: 1 })
    const probes = ['/livez', '/readyz', '/livez/', '/readyz?from=kubelet']
    for (const url of probes) expect(await statuses(world, 2, {}, url)).not.toContain(429)
    for (const who of [{}, look]) {
      await statuses(world, 1, who)
      expect(await statuses(world, 1, who)).toEqual([429])
      for (const url of probes) expect(await statuses(world, 2, who, url)).not.toContain(429)
    }
  })
})

describe('evals of one key', () => {
  const begin = (world: World, key: string, more: object = {}) =>
    world.call('POST', '/eval', { model: null, suite: 'original', ...more }, { 'x-api-key': key })

  it('may be so many at once; one that ends makes room, one that does not begin takes none', async () => {
    const keyRing = loadKeyRing({ API_KEYS: 'evaluator:one,evaluator:other', API_KEYS_FILE: undefined })
    const world = await openWorld({ keyRing, MAX_ACTIVE_EVALS: 2 })
    open.push(world)
    expect((await begin(world, 'one', { suite: 'no-such' })).body.code).toBe('unknown_suite')
    const first = await begin(world, 'one')
    expect([first.status, (await begin(world, 'one')).status]).toEqual([202, 202])
    const third = await begin(world, 'one')
    expect([third.body.code, third.headers['retry-after']]).toEqual(['too_many_active', '30'])
    expect((await begin(world, 'other')).status).toBe(202)
    await world.call('DELETE', `/eval/${first.body.id}`, undefined, { 'x-api-key': 'one' })
    await until(
      async () => (await begin(world, 'one')).status,
      (status) => status === 202,
    )
  })

  it('a refused call to go on with an eval that is at work leaves it its place', async () => {
    const keyRing = loadKeyRing({ API_KEYS: 'evaluator:one', API_KEYS_FILE: undefined })
    const world = await openWorld({ keyRing, MAX_ACTIVE_EVALS: 1 })
    open.push(world)
    const { id } = (await begin(world, 'one')).body
    const refused = await world.call('POST', `/eval/${id}/resume`, undefined, { 'x-api-key': 'one' })
    expect(refused.body.code).toBe('invalid_request') // its completions are brought
    expect((await begin(world, 'one')).body.code).toBe('too_many_active')
  })

  it('a resumed one keeps its place, though another begins before it is active again', async () => {
    const world = await openWorld()
    open.push(world)
    const { redis, keys } = world.platform
    const quota = new ActiveJobQuota(redis, keys, 1)
    const { forGenerationJob, activeGenerationJobs } = createGenerationJobKeys(keys)
    for (const id of ['eval-ended', 'eval-between']) await redis.hset(forGenerationJob(id).job, 'status', 'cancelled')
    const begin = (id: string, start = async () => {}) => quota.runWithinQuota('one', id, start)
    await begin('eval-ended', async () => {
      await begin('eval-between').catch(() => {})
      await redis.zadd(activeGenerationJobs, '1', 'eval-ended')
    })
    await expect(begin('eval-late')).rejects.toMatchObject({ code: 'too_many_active' })
  })

  it('a collection that goes on takes a place again, of the key’s and of all', async () => {
    const keyRing = loadKeyRing({ API_KEYS: 'admin:one', API_KEYS_FILE: undefined })
    const world = await openWorld({ keyRing, MAX_ACTIVE_EVALS: 1 })
    open.push(world)
    const call = (method: 'POST' | 'PUT' | 'DELETE', url: string, body?: object) =>
      world.call(method, url, body, { 'x-api-key': 'one' })
    await call('PUT', '/runs/r', {})
    const model = { name: 'm', base_url: 'http://127.0.0.1:9/v1' }
    const { id } = (await call('POST', '/runs/r/collect', { model, groups: 1 })).body
    expect((await call('DELETE', `/runs/r/collect/${id}`)).body.status).toBe('cancelled')
    const other = (await begin(world, 'one')).body.id
    const resume = () => call('POST', `/runs/r/collect/${id}/resume`)
    expect((await resume()).body.code).toBe('too_many_active')
    await call('DELETE', `/eval/${other}`)

    const { redis, keys: names } = world.platform
    const all = Array.from({ length: 200 }, (_, k) => `eval-${k}`)
    await redis.zadd(createGenerationJobKeys(names).activeGenerationJobs, ...all.flatMap((name) => ['1', name]))
    expect((await resume()).body.code).toBe('too_many_active')
    await redis.zrem(createGenerationJobKeys(names).activeGenerationJobs, ...all)
    expect((await resume()).body.status).toBe('running')
  })
})
