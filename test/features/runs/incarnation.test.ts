/** A run's incarnation: what callers can require of it, and how a run that Redis lost is told from one that was deleted. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inlineComponents } from '../../../scripts/reference/page-parts.ts'
import { createRunKeys } from '../../../src/features/runs/records.ts'
import { keysOf, openWorld, until, type World } from '../../world.ts'

let world: World
let elsewhere: World
const logged: string[] = []
beforeAll(async () => {
  world = await openWorld({ onLog: (line) => logged.push(line) })
  elsewhere = await openWorld({ prefix: world.prefix })
})
afterAll(async () => {
  await elsewhere.close()
  await world.close()
})

const SETTINGS = { tasks: ['chain_sum', 'gcd'], batch_size: 16 }

/** Puts the run and returns its incarnation. */
async function put(run: string, at = world): Promise<string> {
  const { body, headers } = await at.call('PUT', `/runs/${run}`, SETTINGS)
  expect(headers.etag).toBe(`"${body.incarnation}"`)
  return body.incarnation
}

/** Redis forgets everything of a run, as with FLUSHALL. */
async function lose(run: string): Promise<void> {
  const { redis, keys } = world.platform
  for (const key of await keysOf(redis, createRunKeys(keys).run(run).replace(/run$/, '*'))) await redis.unlink(key)
  await redis.srem(createRunKeys(keys).runs, run)
}

/** Asks until there is an item: 503 while it is made. */
const untilItems = (run: string, headers: Record<string, string>, at = world) =>
  until(
    () => at.call('POST', '/items', { run }, headers),
    ({ status }) => status === 200,
  )
const state = async (run: string, at = world) => (await at.call('GET', `/runs/${run}`)).body.state.is
const rollouts = [{ completion: '<answer>1</answer>' }]
const itemId = async () =>
  (await world.call('POST', '/items', { task: 'leg_counting', seed: 42 })).body.items[0].id as string

describe('a call that names the incarnation', () => {
  it('is served while the run is that one: settings, restarts and restored checkpoints keep it', async () => {
    const incarnation = await put('kept')
    const headers = { 'if-match': `"${incarnation}"` }
    await world.call('PUT', '/runs/kept?restart=true', { seed: 7 }, headers)
    const { body: checkpoint } = await world.call('GET', '/runs/kept/checkpoint', undefined, headers)
    const restored = await world.call('PUT', '/runs/kept/checkpoint', checkpoint, headers)
    expect(restored).toMatchObject({ status: 200, body: { incarnation }, headers: { etag: `"${incarnation}"` } })
    expect(await world.call('GET', '/runs/kept', undefined, headers)).toMatchObject({
      status: 200,
      body: { incarnation },
      headers: { etag: `"${incarnation}"` },
    })
    await untilItems('kept', headers)
    const posted = { run: 'kept', item_id: await itemId(), rollouts }
    expect((await world.call('POST', '/rollouts', posted, headers)).status).toBe(202)
    expect((await world.call('POST', '/runs/kept/batches', { step: 0 }, headers)).status).toBe(204)
    const several = { 'if-match': `"of-another-server", "${incarnation}"` }
    expect((await world.call('GET', '/runs/kept', undefined, several)).status).toBe(200)
    expect((await world.call('DELETE', '/runs/kept', undefined, headers)).status).toBe(204)
  })

  it.each(['gone', 'begun anew', 'deleted'])('is refused when the run is %s, and nothing is created', async (how) => {
    const run = `refused-${how.replace(' ', '-')}`
    const incarnation = await put(run)
    const id = await itemId()
    expect((await world.call('POST', '/rollouts', { run, item_id: id, rollouts })).status).toBe(202)
    const { body: checkpoint } = await world.call('GET', `/runs/${run}/checkpoint`)
    if (how === 'deleted') await world.call('DELETE', `/runs/${run}`)
    else await lose(run)
    if (how === 'begun anew') await put(run, elsewhere)
    const before = (await elsewhere.call('GET', `/runs/${run}`)).body.progress
    const model = { name: 'mock', base_url: 'http://127.0.0.1:9/v1' }
    for (const [method, path, body] of [
      ['POST', '/items', { run }],
      ['POST', '/items', { run, step: 0, count: 4 }],
      ['POST', '/rollouts', { run, item_id: id, rollouts }],
      ['POST', `/rollouts?run=${run}`, { groups: [{ item_id: id, rollouts }] }],
      ['GET', `/rollouts/any?run=${run}`, undefined],
      ['POST', `/runs/${run}/samples`, { samples: [{ item_id: id, completion: 'x' }] }],
      ['PUT', `/runs/${run}`, SETTINGS],
      ['GET', `/runs/${run}`, undefined],
      ['GET', `/runs/${run}/checkpoint`, undefined],
      ['PUT', `/runs/${run}/checkpoint`, checkpoint],
      ['POST', `/runs/${run}/batches`, { step: 0 }],
      ['GET', `/runs/${run}/batches/0`, undefined],
      ['POST', `/runs/${run}/batches/0/ack`, {}],
      ['POST', `/runs/${run}/collect`, { model, groups: 1 }],
      ['GET', `/runs/${run}/collect`, undefined],
      ['GET', `/runs/${run}/groups`, undefined],
      ['GET', `/runs/${run}/history`, undefined],
      ['GET', `/runs/${run}/metrics`, undefined],
      ['GET', `/runs/${run}/export?format=sft`, undefined],
      ['POST', '/eval', { suite: 'smoke', run, model: null }],
      ['DELETE', `/runs/${run}`, undefined],
    ] as const) {
      const refused = await world.call(method, path, body, { 'if-match': `"${incarnation}"` })
      expect([method, path, refused.status, refused.body.code]).toEqual([method, path, 412, 'run_recreated'])
    }
    const after = await elsewhere.call('GET', `/runs/${run}`)
    expect(after.status).toBe(how === 'begun anew' ? 200 : 404)
    expect(after.body.progress).toEqual(before)
  })

  it('may be any call for a run that names nothing by an ID', () => {
    const paths = ['openapi.json', 'trainers.json'].flatMap((name) => {
      const text = readFileSync(new URL(`../../../openapi/${name}`, import.meta.url), 'utf8')
      return Object.entries<Record<string, { parameters?: { name: string }[] }>>(
        inlineComponents(JSON.parse(text)).paths,
      )
    })
    const deaf = paths
      .filter(([path]) => /^\/runs\/\{run\}(?!.*\{id\})/.test(path))
      .flatMap(([path, methods]) => Object.entries(methods).map(([method, call]) => ({ path, method, call })))
      .filter(({ call }) => !call.parameters?.some(({ name }) => name.toLowerCase() === 'if-match'))
    expect(deaf.map(({ path, method }) => `${method} ${path}`)).toEqual([])
  })

  it('is refused when it is repeated under its Idempotency-Key', async () => {
    const condition = { 'if-match': `"${await put('repeated')}"` }
    const headers = { ...condition, 'idempotency-key': 'repeated' }
    const model = { name: 'mock', base_url: 'http://127.0.0.1:9/v1' }
    const calls = [
      ['/items', { run: 'repeated', count: 2 }],
      ['/runs/repeated/collect', { model, groups: 1 }],
      ['/eval', { suite: 'smoke', run: 'repeated', model: null }],
    ] as const
    for (const [path, body] of calls) {
      const first = await until(
        () => world.call('POST', path, body, headers),
        ({ status }) => status < 300,
      )
      expect((await world.call('POST', path, body, headers)).body).toEqual(first.body)
    }
    await world.call('DELETE', '/runs/repeated')
    await put('repeated', elsewhere)
    for (const [path, body] of calls) {
      const { status, body: problem } = await world.call('POST', path, body, headers)
      expect([path, status, problem.code]).toEqual([path, 412, 'run_recreated'])
    }
  })

  it('may name any with *, and is refused for what is no entity tag', async () => {
    const any = { 'if-match': '*' }
    expect(await world.call('POST', '/items', { run: 'any' }, any)).toMatchObject({ status: 412 })
    const incarnation = await put('any')
    await untilItems('any', any)
    expect(await world.call('GET', '/runs/any', undefined, { 'if-match': `W/"${incarnation}"` })).toMatchObject({
      status: 412, // a weak tag equals none
    })
    expect(await world.call('GET', '/runs/any', undefined, { 'if-match': 'a b' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    })
  })

  it('If-None-Match: * only creates, and one of many callers does', async () => {
    const create = () => world.call('PUT', '/runs/once', SETTINGS, { 'if-none-match': '*' })
    const statuses = (await Promise.all(Array.from({ length: 5 }, create))).map(({ status }) => status)
    expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 412, 412, 412, 412])
    expect((await create()).body.code).toBe('run_exists')
  })
})

describe('a run that Redis lost', () => {
  it('is "recreated" once a call has begun it anew, which only the default run allows, on every node, until somebody puts its settings', async () => {
    const incarnation = await put('default')
    await put('named')
    await lose('default')
    await lose('named')
    expect((await elsewhere.call('POST', '/items', { run: 'named' })).body).toMatchObject({ code: 'unknown_run' })
    await untilItems('default', {}, elsewhere) // which never met the first
    const { body } = await world.call('GET', '/runs/default')
    expect(body.incarnation).not.toBe(incarnation)
    expect(body.state).toMatchObject({ is: 'recreated', why: expect.stringContaining('default settings') })
    expect(await state('default', elsewhere)).toBe('recreated')
    const lines = logged.map((line) => JSON.parse(line)).filter(({ run }) => run === 'default')
    expect(lines).toMatchObject([{ incarnation: body.incarnation, lost_incarnation: incarnation }])
    expect((await world.call('PUT', '/runs/default?restart=true', SETTINGS)).body).toMatchObject({
      incarnation: body.incarnation,
      state: { is: 'idle' },
    })
    expect(await state('default', elsewhere)).toBe('idle')
  })

  it('is not "recreated" by those who put or restore it', async () => {
    await put('put-again')
    const { body: checkpoint } = await world.call('GET', '/runs/put-again/checkpoint')
    await lose('put-again')
    await put('put-again', elsewhere)
    expect(await state('put-again')).toBe('idle')
    await lose('put-again')
    await elsewhere.call('PUT', '/runs/put-again/checkpoint', checkpoint)
    expect(await state('put-again')).toBe('idle')
  })

  it('is told from one that was deleted on another node', async () => {
    const incarnation = await put('deleted')
    expect((await elsewhere.call('DELETE', '/runs/deleted')).status).toBe(204)
    await put('deleted', elsewhere)
    await untilItems('deleted', {}, elsewhere)
    const { body } = await world.call('GET', '/runs/deleted')
    expect(body.state.is).toBe('idle')
    expect(body.incarnation).not.toBe(incarnation)
  })
})
