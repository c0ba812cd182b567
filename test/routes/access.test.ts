import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadKeyRing } from '../../src/http/auth/key-ring.ts'
import { readMetrics } from '../features/operations/reading.ts'
import { openWorld, until, type World } from '../world.ts'

const KEYS =
  'reader:look,trainer:train,evaluator:measure,admin:rule,trainer@mine+also-mine:bound,reader@mine:onlooker,evaluator@mine:measure-mine,reader:se/cr%41t'
const FRIEND = 'https://friend.example'

let world: World
let open: World
const logLines: string[] = []

beforeAll(async () => {
  const keyRing = loadKeyRing({ API_KEYS: KEYS, API_KEYS_FILE: undefined })
  ;[world, open] = await Promise.all([
    openWorld({ keyRing, onLog: (line) => logLines.push(line) }),
    openWorld({ corsOrigins: [FRIEND, '*'] }),
  ])
})
afterAll(() => Promise.all([world.close(), open.close()]))

const call = (method: string, url: string, key?: string, body?: unknown) =>
  world.call(method as 'GET', url, body, key === undefined ? {} : { authorization: `Bearer ${key}` })
it('GET /whoami tells the role, the runs and the end of the key', async () => {
  expect((await call('GET', '/whoami', 'look')).body).toEqual({ role: 'reader', runs: null, key: 'k' })
  expect((await call('GET', '/whoami', 'bound')).body).toEqual({
    role: 'trainer',
    runs: ['mine', 'also-mine'],
    key: 'd',
  })
  expect((await call('GET', '/whoami', 'unknown')).status).toBe(401)
  expect((await open.call('GET', '/whoami')).body).toEqual({ role: 'admin', runs: null, key: null })
})

describe('role by role', () => {
  // Written out by hand, so that a slip in the table is a failure here.
  it.each([
    ['GET', '/tasks', '', 'rtea'],
    ['POST', '/items', '', 'ta'],
    ['POST', '/items/find', '', 'a'],
    ['POST', '/rollouts', '', 'ta'],
    ['POST', '/score', '', 'tea'],
    ['GET', '/runs', '', 'rtea'],
    ['PUT', '/runs/someones', '', 'ta'],
    ['DELETE', '/runs/someones', '', 'ta'],
    ['GET', '/livez', '', '-rtea'],
    ['GET', '/docs/', '', '-rtea'],
    ['GET', '/openapi.json', '', '-rtea'],
  ])('%s %s%s is for %s', async (method, url, _none, who) => {
    const given = { '-': undefined, r: 'look', t: 'train', e: 'measure', a: 'rule' }
    for (const [letter, key] of Object.entries(given)) {
      const answer = await world.app.inject({
        method: method as 'GET',
        url,
        headers: key === undefined ? {} : { authorization: `bearer ${key}` },
      })
      expect([letter, answer.statusCode === 401, answer.statusCode === 403]).toEqual([
        letter,
        !who.includes(letter) && letter === '-',
        !who.includes(letter) && letter !== '-',
      ])
    }
  })

  it('a refusal is a problem document with its code, and comes before the body is read', async () => {
    const none = await call('POST', '/rollouts', undefined, '{"rollouts":')
    expect(none.body).toMatchObject({ code: 'unauthorized', status: 401 })
    expect(none.headers['www-authenticate']).toBe('Bearer')
    expect((await call('POST', '/rollouts', 'look', '{"rollouts":')).body).toMatchObject({
      code: 'forbidden',
      status: 403,
    })
    expect((await call('POST', '/rollouts', 'train', '{"rollouts":')).body).toMatchObject({ code: 'invalid_json' })
  })
})

describe('a key that is bound to runs', () => {
  const group = (run: string) => ({ run, item_id: 'x', rollouts: [{ completion: 'x' }] })

  it.each([
    ['POST', '/items', { run: 'other' }],
    ['POST', '/items', {}],
    ['POST', '/items', undefined],
    ['POST', '/rollouts', group('other')],
    ['POST', '/rollouts', { ...group('default'), run: undefined }],
    ['POST', '/rollouts', { groups: [{ ...group('default'), run: undefined }] }],
    ['POST', '/rollouts?run=other', group('mine')],
    ['POST', '/rollouts?run=mine', group('other')],
    ['GET', '/rollouts/7?run=other', undefined],
    ['GET', '/rollouts/7', undefined],
    ['GET', '/runs/other', undefined],
    ['GET', '/runs/other/history', undefined],
    ['PUT', '/runs/other', { seed: 1 }],
    ['DELETE', '/runs/other', undefined],
    ['GET', '/runs/constructor', undefined],
  ])('%s %s %j is another run', async (method, url, body) => {
    expect((await call(method, url, 'bound', body)).body).toMatchObject({ code: 'forbidden' })
  })

  it('does in its own what its role may', async () => {
    expect((await call('PUT', '/runs/mine', 'bound', { seed: 1 })).status).toBe(201)
    expect((await call('PUT', '/runs/also-mine', 'bound', { seed: 1 })).status).toBe(201)
    expect((await call('PUT', '/runs/mine', 'onlooker', { seed: 1 })).body.code).toBe('forbidden')
    expect((await call('GET', '/rollouts/7?run=mine', 'bound')).body.code).toBe('unknown_group')
    expect((await call('POST', '/items', 'bound', { task: 'leg_counting' })).status).toBe(200)
  })

  it('forks into its own runs, and sees no other forks', async () => {
    expect((await call('POST', '/runs/mine/fork', 'bound', { name: 'other' })).body.code).toBe('forbidden')
    expect((await call('POST', '/runs/mine/fork', 'rule', { name: 'branch' })).body.forked_from.run).toBe('mine')
    expect((await call('GET', '/runs/mine', 'bound')).body.forks).toEqual([])
    expect((await call('GET', '/runs/mine', 'rule')).body.forks).toEqual(['branch'])
    const { body: checkpoint } = await call('GET', '/runs/mine/checkpoint', 'bound')
    const changes = [
      ['PATCH', '/runs/mine', { lifecycle: 'finished' }],
      ['PUT', '/runs/mine', { seed: 1 }],
      ['POST', '/runs/mine/curriculum-reset', undefined],
      ['PUT', '/runs/mine/checkpoint', checkpoint],
    ] as const
    for (const [method, url, body] of changes)
      expect((await call(method, url, 'bound', body)).body).toMatchObject({ run: 'mine', forks: [] })
    expect((await call('POST', '/runs/branch/rewind', 'bound', { step: 0 })).body.code).toBe('forbidden')
  })

  it('measures its own runs', async () => {
    const begin = (more: object) => call('POST', '/eval', 'measure-mine', { model: null, suite: 'original', ...more })
    expect((await begin({})).body.code).toBe('forbidden')
    expect((await begin({ run: 'other' })).body.code).toBe('forbidden')
    expect((await begin({ run: 'mine' })).status).toBe(202)
    expect((await call('GET', '/eval', 'measure-mine')).body.code).toBe('forbidden')
    expect((await call('GET', '/eval?run=mine', 'measure-mine')).body.evals).toHaveLength(1)
    expect((await call('GET', '/dumps', 'onlooker')).body.code).toBe('forbidden')
    expect((await call('GET', '/dumps?run=mine', 'onlooker')).status).toBe(200)
  })

  it('starts the curriculum of its runs from no eval of another run, now or when another mode reads it', async () => {
    await call('PUT', '/runs/other', 'train', { seed: 1 })
    const { id } = (await call('POST', '/eval', 'rule', { model: null, suite: 'original', run: 'other' })).body
    const settings = { curriculum_start: { eval: id } }
    expect((await call('PUT', '/runs/mine', 'bound', settings)).body.code).toBe('forbidden')
    const { body } = await call('GET', '/runs/mine/checkpoint', 'bound')
    const restore = (start: string) => {
      const checkpoint = { ...body, settings: { ...body.settings, curriculum_start: { eval: start } } }
      return call('PUT', '/runs/mine/checkpoint', 'bound', checkpoint)
    }
    expect((await restore(id)).body.code).toBe('forbidden')
    expect((await restore('eval-0123456789abcdef0123')).status).toBe(200) // of another server
    await call('PUT', '/runs/mine', 'bound', { curriculum_start: null })
  })

  it('sees the metrics of no others, and those without a run', async () => {
    await call('PUT', '/runs/mine', 'train', { seed: 1 })
    await call('PUT', '/runs/other', 'train', { seed: 1 })
    const seen = async (key: string) => {
      const { body } = await world.app.inject({ url: '/metrics', headers: { 'x-api-key': key } })
      const { samples } = readMetrics(body)
      const shown = samples.find(({ name }) => name === 'rgs_runs_shown')?.value
      return { runs: new Set(samples.flatMap(({ labels }) => labels.run ?? [])), shown, body }
    }
    expect([...(await seen('look')).runs]).toEqual(expect.arrayContaining(['mine', 'other']))
    const { runs, shown, body } = await seen('onlooker')
    expect(runs).toEqual(new Set(['mine']))
    expect(shown).toBe(1)
    expect(body).toContain('rgs_queue_jobs{')
  })

  it('sees no others in the list', async () => {
    await call('PUT', '/runs/other', 'train', { seed: 1 })
    const seen = async (key: string) =>
      (await call('GET', '/runs', key)).body.runs.map(({ run }: { run: string }) => run)
    expect((await seen('look')).toSorted()).toEqual(expect.arrayContaining(['also-mine', 'mine', 'other']))
    expect((await seen('bound')).toSorted()).toEqual(['also-mine', 'mine'])
    expect(await seen('onlooker')).toEqual(['mine'])
  })
})

describe('a key as the password of HTTP Basic', () => {
  const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`
  const statusFor = async (headers: Record<string, string>, method: 'GET' | 'PUT' = 'GET', url = '/runs') =>
    (await world.call(method, url, method === 'PUT' ? {} : undefined, headers)).status

  it.each([
    ['trainer:train', 200],
    [':train', 200],
    ['jürgen:train', 200],
    ['trainer:se/cr%41t', 200], // the key itself has a percent sign
    ['trainer:se%2Fcr%2541t', 200], // as it stands in the URL
    ['trainer:%74rain', 200],
    ['trainer:se/crAt', 401],
    ['trainer:tra%', 401],
    ['train:', 401],
    ['train', 401],
    ['a:b:train', 401],
    ['trainer:TRAIN', 401],
    ['', 401],
  ])('%j: %i', async (credentials, status) => {
    expect(await statusFor({ authorization: basic(credentials) })).toBe(status)
  })

  it('has the role and the runs of the key', async () => {
    expect(await statusFor({ authorization: basic('x:look') }, 'PUT', '/runs/mine')).toBe(403)
    expect(await statusFor({ authorization: basic('x:bound') }, 'PUT', '/runs/mine')).toBeLessThan(300)
    expect(await statusFor({ authorization: basic('x:bound') }, 'PUT', '/runs/other')).toBe(403)
  })

  it.each(['Basic', 'Basic ', 'Basic dHJh aW4=', 'Basic train', 'Basic ***', 'Digest username="train"', 'train'])(
    'what cannot be read is a 401 that says what to send: %j',
    async (authorization) => {
      const { status, body, headers } = await world.call('GET', '/runs', undefined, { authorization })
      expect([status, body.code, headers['www-authenticate']]).toEqual([401, 'unauthorized', 'Bearer'])
      expect(body.detail).toContain('http://trainer:KEY@host')
    },
  )

  it('a key that the server does not know is said to be unknown', async () => {
    const { status, body } = await world.call('GET', '/runs', undefined, { authorization: 'Bearer wrong' })
    expect([status, body.detail]).toEqual([401, expect.stringContaining('not known to the server')])
  })

  it('goes after the other headers, so that it may be meant for a proxy', async () => {
    expect(await statusFor({ authorization: basic('proxy:word'), 'x-api-key': 'look' })).toBe(200)
    expect(await statusFor({ authorization: basic('x:look'), 'x-api-key': 'wrong' })).toBe(401)
  })

  it('does not count for pages of other origins, to which a browser would add it by itself', async () => {
    const authorization = basic('x:rule')
    for (const more of [{ 'sec-fetch-site': 'cross-site' }, { host: 'gym:8000', origin: 'http://gym:3000' }]) {
      expect(await statusFor({ authorization, ...more })).toBe(401)
      expect(await statusFor({ authorization: 'Bearer rule', ...more })).toBe(200)
    }
    const sameOrigin = { host: 'gym:8000', origin: 'http://gym:8000', 'sec-fetch-site': 'same-origin' }
    expect(await statusFor({ authorization, ...sameOrigin })).toBe(200)
  })

  it('stands in no log and no answer, not even where a client sends it as part of the target', async () => {
    const authorization = basic('trainer:train')
    await world.call('PUT', '/runs/mine', { suppress_base_env_logs: false }, { authorization })
    await world.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = world.app.server.address() as AddressInfo
    const get = (path: string) =>
      new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
        request({ port, path, headers: { authorization } }, (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk
          })
          response.on('end', () => resolve({ status: response.statusCode, text }))
        })
          .on('error', reject)
          .end()
      })
    const origin = `http://trainer:train@127.0.0.1:${port}`
    await until(
      async () => [
        (await get(`${origin}/runs/mine`)).status,
        logLines.some((line) => line.includes('"url":"/runs/mine"')),
      ],
      ([status, isLogged]) => status === 200 && isLogged === true,
    )
    expect((await get(`${origin}?run=mine`)).status).toBe(200)
    const answers = await Promise.all(
      ['/nothing', '/runs/%zz', '/runs/mine/nothing?x=1'].map((path) => get(origin + path)),
    )
    expect(answers.map(({ status }) => status)).toEqual([404, 400, 404])
    expect(answers.map(({ text }) => text).join()).not.toMatch(/:train|trainer/)
    expect(logLines.join()).not.toContain('train@')
    expect(logLines.join()).not.toContain(authorization.slice(6))
  })
})

describe('without keys', () => {
  it('everyone here is admin', async () => {
    expect((await open.call('GET', '/runs')).status).toBe(200)
    for (const host of ['127.0.0.1:8000', '[::1]:8000', 'localhost']) {
      expect((await open.call('GET', '/runs', undefined, { host })).status).toBe(200)
    }
  })

  it('a page of another site can neither come under its own name nor change anything', async () => {
    const rebound = await open.call('GET', '/runs', undefined, { host: 'evil.example:8000' })
    expect(rebound.body).toMatchObject({ code: 'forbidden', detail: expect.stringContaining('API_KEYS') })
    const form = await open.call('POST', '/items', undefined, { 'sec-fetch-site': 'cross-site' })
    expect(form.body.code).toBe('forbidden')
    expect((await open.call('GET', '/runs', undefined, { 'sec-fetch-site': 'cross-site' })).status).toBe(200)
  })

  const host = 'localhost:8000'
  it.each<[name: string, headers: Record<string, string>, isAdmin: boolean]>([
    ['curl, the command line and the Python client', { host }, true],
    ['the dashboard and Swagger UI', { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' }, true],
    ['the same in a browser without Sec-Fetch-Site', { host, origin: `http://${host}` }, true],
    ['the same through an SSH tunnel', { host: '127.0.0.1:9999', origin: 'http://127.0.0.1:9999' }, true],
    [
      'the same behind a proxy with TLS that rewrites Host',
      { host, origin: 'https://gym.example', 'sec-fetch-site': 'same-origin' },
      true,
    ],
    ['an address that the user typed', { host, 'sec-fetch-site': 'none' }, true],
    ['a page that CORS_ORIGINS names', { host, origin: FRIEND, 'sec-fetch-site': 'cross-site' }, true],
    ['a page that only its * lets in', { host, origin: 'https://x.example', 'sec-fetch-site': 'cross-site' }, false],
    ['another port', { host, origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' }, false],
    ['another port, in a browser without Sec-Fetch-Site', { host, origin: 'http://localhost:3000' }, false],
    ['a sandboxed frame, in a browser without Sec-Fetch-Site', { host, origin: 'null' }, false],
  ])('%s: an admin or not', async (_name, headers, isAdmin) => {
    expect((await open.call('GET', '/jobs/failed', undefined, headers)).status).toBe(isAdmin ? 200 : 403)
    expect((await open.call('DELETE', '/runs/no-such-run', undefined, headers)).status === 403).toBe(!isAdmin)
  })
})

describe('expected answers of an eval', () => {
  it('are for an admin while it is active, and for all readers of a scored sample once it is over', async () => {
    const body = { model: null, suite: { tasks: ['gcd'], n: 3 } }
    const { id } = (await call('POST', '/eval', 'measure', body)).body
    const { items } = (await call('GET', `/eval/${id}/items`, 'measure')).body
    const completions = [{ sample_id: items[0].sample_id, completion: '<answer>1</answer>' }]
    await call('POST', `/eval/${id}/completions`, 'measure', { completions })
    const one = async (key: string, sample = 's0') => (await call('GET', `/eval/${id}/samples/${sample}`, key)).body
    const page = (key: string) => call('GET', `/eval/${id}/samples?expected=true`, key)
    const others = ['look', 'train', 'measure']
    for (const key of others) {
      expect(await one(key)).not.toHaveProperty('expected')
      expect((await page(key)).body.code).toBe('forbidden')
      expect(JSON.stringify((await call('GET', `/eval/${id}/samples?limit=5`, key)).body)).not.toContain('expected')
    }
    expect((await one('rule')).expected).toMatch(/^\d+$/)
    expect((await page('rule')).body.samples.every(({ expected }: { expected?: string }) => expected)).toBe(true)
    await call('POST', `/eval/${id}/finish`, 'measure')
    for (const key of others) {
      expect((await one(key)).expected).toMatch(/^\d+$/)
      expect(await one(key, 's1')).not.toHaveProperty('expected') // without a score it may be asked again
      expect((await page(key)).body.samples.map((sample: object) => 'expected' in sample)).toEqual([true, false, false])
    }
  })
})

describe('the expected answer of a group', () => {
  it('is for an admin alone', async () => {
    const { items } = (await call('POST', '/items', 'train', { task: 'gcd', seed: 3 })).body
    const group = { item_id: items[0].id, group_id: 'seen', rollouts: [{ completion: '<answer>1</answer>' }] }
    await call('PUT', '/runs/watched', 'train', {})
    await call('POST', '/rollouts', 'train', { run: 'watched', ...group })
    const get = async (key: string) => (await call('GET', '/runs/watched/groups/seen', key)).body
    for (const key of ['look', 'train', 'measure']) {
      expect(await get(key)).toMatchObject({ group_id: 'seen' })
      expect(await get(key)).not.toHaveProperty('expected')
    }
    expect((await get('rule')).expected).toMatch(/^\d+$/)
  })
})
