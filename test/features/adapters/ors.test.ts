/** ORS as its client speaks it: discovery, sessions, prompts, calls and groups. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { App } from '../../../src/http/app.ts'
import { loadKeyRing } from '../../../src/http/auth/key-ring.ts'
import { createOrsApp } from '../../../src/main/create-app.ts'
import { HANGING, keysOf, openWorld, until, type World } from '../../world.ts'

let world: World
let app: App
let legs: string // its answer is 100
let hanging: string

beforeAll(async () => {
  world = await openWorld({ worker: true, SCORE_DEADLINE_MS: 300 })
  app = await createOrsApp(world)
  const makeItem = async (task: string, seed: number): Promise<string> =>
    (await world.call('POST', '/items', { task, seed })).body.items[0].id
  legs = await makeItem('leg_counting', 42)
  hanging = await makeItem(HANGING.task, 1)
  await world.call('PUT', '/runs/mine', { preset: 'clean', group_size: 2, tasks: ['leg_counting'] })
})
afterAll(async () => {
  await app.close()
  await world.close()
})

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails where it is not there
type Body = any

async function send(method: 'GET' | 'POST', url: string, body?: object, headers: Record<string, string> = {}) {
  const response = await app.inject({ method, url, headers, ...(body && { payload: body }) })
  return { status: response.statusCode, headers: response.headers, text: response.body }
}
async function ask(
  method: 'GET' | 'POST',
  url: string,
  body?: object,
  headers?: Record<string, string>,
): Promise<Body> {
  const { status, text } = await send(method, url, body, headers)
  expect([url, status, text]).toEqual([url, 200, text])
  return JSON.parse(text)
}
/** The events of a stream, as its client reads them. */
function readEvents(text: string): [string, string][] {
  const events = text.split('\n\n').filter(Boolean)
  return events.map((event) => {
    const [, name = '', data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? []
    return [name, data]
  })
}

/** A session on a task, as `with environment.session(task)` begins one. */
async function begin(task: object, more: Record<string, string> = {}) {
  const created = await send('POST', '/create_session', {}, more)
  const [first] = readEvents(created.text)
  expect(first?.[0]).toBe('task_id')
  const id = first?.[1] ?? ''
  const headers = { 'x-session-id': id, ...more }
  expect(await ask('POST', '/create', task, headers)).toEqual({ sid: id })
  const stream = async (url: string, body: object): Promise<Body> => {
    const { status, text } = await send('POST', url, body, headers)
    const events = readEvents(text)
    expect([status, events.map(([name]) => name)]).toEqual([200, ['task_id', 'end']])
    return JSON.parse(events[1]?.[1] ?? '')
  }
  return {
    headers,
    stream,
    call: (name: string, input: object) => stream('/call', { name, input }),
    get: (url: string) => ask('GET', url, undefined, headers),
  }
}
const say = (text: string) => ({ role: 'assistant', blocks: [{ type: 'text', text, detail: null }] })

describe('discovery', () => {
  it('a run is an environment, and one belongs to no run', async () => {
    expect(await ask('GET', '/list_environments')).toEqual(['reasoning-gym', 'mine'])
    for (const prefix of ['', '/reasoning-gym', '/mine', '/env']) {
      const tools = await ask('GET', `${prefix}/tools`)
      expect(tools.tools.map(({ name }: { name: string }) => name)).toEqual(['submit_answer'])
      expect(tools.terminal_tool).toMatchObject({ name: 'submit_message', arg: 'message' })
      expect(await ask('GET', `${prefix}/splits`)).toEqual([
        { name: 'train', type: 'train' },
        { name: 'test', type: 'test' },
      ])
    }
    expect((await send('GET', '/typo/splits')).status).toBe(404)
    expect((await send('GET', '/splits', undefined, { 'x-deployment': 'typo' })).status).toBe(404)
    expect((await world.call('GET', '/runs/typo')).status).toBe(404)
  })

  it('the tasks of a split: items of no run, positions of a run, and a frozen suite', async () => {
    const count = async (url: string, split: string) => (await ask('POST', url, { split })).num_tasks
    const suite = (await world.call('GET', '/eval/suites/original')).body.recipes
    expect(await count('/num_tasks', 'train')).toBe(10_000)
    expect(await count('/mine/num_tasks', 'train')).toBe(100_000)
    expect(await count('/mine/num_tasks', 'test')).toBe(suite.length)
    const { tasks, env_name } = await ask('POST', '/mine/tasks', { split: 'test' })
    expect([env_name, tasks[3].item_id, tasks.length]).toEqual(['mine', suite[3].id, suite.length])
    const range = { split: 'train', start: -2 }
    const ends = await ask('POST', '/task_range', range, { 'x-deployment': 'someone/mine' })
    expect(ends).toEqual({ tasks: [{ position: 99_998 }, { position: 99_999 }], env_name: 'mine' })
    const all = (await ask('POST', '/task_range', { split: 'train', stop: 300 })).tasks
    expect(new Set(all.map(({ item_id }: { item_id: string }) => item_id)).size).toBe(300)
    expect(await ask('POST', '/task', { split: 'train', index: 7 })).toEqual({
      task: all[7],
      env_name: 'reasoning-gym',
    })
    for (const wrong of [
      { split: 'validation', index: 0 },
      { split: 'train', index: -1 },
      { split: 'test', index: 1e6 },
    ])
      expect((await send('POST', '/task', wrong)).status).toBe(400)
  })
})

describe('an episode', () => {
  it('the prompt is one message of the user, with the instructions', async () => {
    const session = await begin({ task_spec: { item_id: legs } })
    const [block] = await session.get('/prompt')
    expect(block).toMatchObject({ type: 'text', detail: { item_id: legs, task: 'leg_counting' } })
    expect(block.text).toMatch(/<answer>.*count how many legs/s)
    expect(await session.get('/messages')).toEqual([{ role: 'user', blocks: [block], detail: null }])
    expect((await session.get('/task_tools')).supports_score_group).toBe(true)
    expect(await ask('POST', '/ping', undefined, session.headers)).toEqual({ status: 'ok' })
  })

  it.each([
    ['submit_answer', { answer: '100' }, 1, null],
    ['submit_answer', { answer: 100 }, 1, null],
    ['submit_answer', { answer: '<answer>100</answer>' }, 1, null],
    ['submit_answer', { answer: '7' }, 0, null],
    ['submit_message', { message: '<think>so</think><answer>100</answer>' }, 1, null],
    ['submit_message', { message: '100' }, 0, 'no_answer'],
  ])('%s %j gives %d', async (name, input, reward, fault) => {
    const session = await begin({ task_spec: { item_id: legs } })
    const { ok, output } = await session.call(name, input)
    expect([ok, output.reward, output.finished, output.metadata.fault]).toEqual([true, reward, true, fault])
    expect(await session.call(name, input)).toEqual({ ok, output }) // a retry
    expect(await session.call('submit_answer', { answer: 'other' })).toMatchObject({
      ok: false,
      reason: 'episode_finished',
    })
  })

  it('what cannot be scored has no reward, and what is no call ends nothing', async () => {
    const session = await begin({ task_spec: { item_id: hanging } })
    expect(await session.call('look_up', {})).toMatchObject({ ok: false, reason: 'not_found' })
    expect(await session.call('submit_answer', { text: '1' })).toMatchObject({ ok: false, reason: 'input_validation' })
    const { output } = await session.call('submit_answer', { answer: HANGING.answer })
    expect(output).toMatchObject({ reward: null, finished: true, metadata: { unscored: true, code: 'scorer_timeout' } })
  })

  it('a group: one score each, and the mean of the others for what cannot be scored', async () => {
    const session = await begin({ task_spec: { item_id: legs } })
    const candidates = ['<answer>100</answer>', '<answer>7</answer>', 'none'].map((text) => ({
      messages: [{ role: 'user', blocks: [] }, say('first'), say(text)],
    }))
    const { scores } = await session.stream('/score_group', { candidates })
    expect(scores.map(({ reward }: { reward: number }) => reward)).toEqual([1, 0, 0])
    const other = await begin({ task_spec: { item_id: hanging } })
    const mixed = [HANGING.answer, 'x', 'y'].map((text) => ({ messages: [say(`<answer>${text}</answer>`)] }))
    const partly = (await other.stream('/score_group', { candidates: mixed })).scores
    expect(partly[0].metadata).toMatchObject({ unscored: true })
    expect(partly[0].reward).toBe((partly[1].reward + partly[2].reward) / 2)
  })

  it('a session is created once, known on every node, and gone when it is deleted', async () => {
    const session = await begin({ split: 'train', index: 3 })
    expect(await ask('POST', '/create', { split: 'train', index: 3 }, session.headers)).toMatchObject({})
    expect((await send('POST', '/create', { split: 'train', index: 4 }, session.headers)).status).toBe(400)
    expect((await send('POST', '/create', {}, { 'x-session-id': 'new' })).status).toBe(400)
    expect((await send('POST', '/create', { split: 'train', index: 0 })).status).toBe(400)
    const elsewhere = await createOrsApp(world)
    const again = await elsewhere.inject({ url: '/prompt', headers: session.headers })
    await elsewhere.close()
    expect(again.json()).toEqual(await session.get('/prompt'))
    await ask('POST', '/delete', undefined, session.headers)
    await ask('POST', '/delete_session', undefined, session.headers)
    for (const url of ['/prompt', '/task_tools'])
      expect((await send('GET', url, undefined, session.headers)).status).toBe(404)
    expect((await send('POST', '/ping', undefined, session.headers)).status).toBe(404)
    const octets = { ...session.headers, 'content-type': 'application/octet-stream' }
    expect((await send('POST', '/ping', undefined, octets)).status).toBe(404) // as aiohttp sends no body
  })
})

describe('a run', () => {
  const listOpenGroups = () => keysOf(world.platform.redis, `*${world.prefix}*:open-group:*`)

  it('gives the item of a position, and counts the group that its sessions make', async () => {
    const task = { split: 'train', index: 5 }
    const header = { 'x-deployment': 'mine' }
    const [one, other] = [await begin(task, header), await begin({ task_spec: { position: 5 }, env_name: 'mine' })]
    const item = (await world.call('POST', '/items', { run: 'mine', position: 5 })).body.items[0]
    for (const session of [one, other]) expect((await session.get('/prompt'))[0].detail.item_id).toBe(item.id)
    const { answer } = (await world.call('GET', `/items/${item.id}?reveal=true`)).body
    expect((await one.call('submit_answer', { answer })).output.reward).toBe(1)
    await one.call('submit_answer', { answer }) // a retry counts once
    expect((await other.call('submit_message', { message: '<answer>no</answer>' })).output.reward).toBe(0)
    const { rollouts, groups } = await until(
      async () => (await world.call('GET', '/runs/mine')).body.progress,
      (progress) => progress.groups === 1,
    )
    expect([rollouts, groups]).toEqual([2, 1])
  })

  it('its test split counts nothing', async () => {
    const session = await begin({ split: 'test', index: 0 }, { 'x-deployment': 'mine' })
    await session.call('submit_answer', { answer: '1' })
    expect(await listOpenGroups()).toEqual([])
    const training = await begin({ split: 'train', index: 9 }, { 'x-deployment': 'mine' })
    await training.call('submit_answer', { answer: '1' })
    expect(await until(listOpenGroups, ({ length }) => length > 0)).toHaveLength(1)
  })
})

it('a session does not create its run again after the run was deleted', async () => {
  await world.call('PUT', '/runs/scratch', { tasks: ['leg_counting'] })
  const session = await begin({ split: 'train', index: 1 }, { 'x-deployment': 'scratch' })
  expect((await world.call('DELETE', '/runs/scratch')).status).toBe(204)
  const submit = () => send('POST', '/call', { name: 'submit_answer', input: { answer: '1' } }, session.headers)
  expect((await submit()).status).toBe(412)
  expect((await world.call('GET', '/runs/scratch')).status).toBe(404)
  await world.call('PUT', '/runs/scratch', { tasks: ['gcd'] })
  expect((await submit()).status).toBe(412)
  expect((await send('GET', '/prompt', undefined, session.headers)).status).toBe(412)
})

it('keys count as elsewhere', async () => {
  const keyRing = loadKeyRing({ API_KEYS: 'reader:look,trainer@mine:bound,trainer:train', API_KEYS_FILE: undefined })
  const guarded = await createOrsApp(world, { keyRing })
  const status = async (method: 'GET' | 'POST', url: string, key: string) =>
    (await guarded.inject({ method, url, headers: { 'x-api-key': key, 'x-session-id': 's' } })).statusCode
  expect(await status('GET', '/health', '')).toBe(200)
  expect(await status('GET', '/splits', '')).toBe(401)
  expect(await status('GET', '/mine/splits', 'look')).toBe(200)
  expect(await status('GET', '/prompt', 'look')).toBe(403)
  expect(await status('GET', '/prompt', 'train')).toBe(404)
  await world.call('PUT', '/runs/other', {})
  expect(await status('GET', '/other/splits', 'train')).toBe(200)
  expect(await status('GET', '/other/splits', 'bound')).toBe(404)
  const { headers } = await begin({ split: 'train', index: 1 }, { 'x-deployment': 'other' })
  const promptOf = (key: string) => guarded.inject({ url: '/prompt', headers: { ...headers, 'x-api-key': key } })
  expect([(await promptOf('train')).statusCode, (await promptOf('bound')).statusCode]).toEqual([200, 404])
  const envs = await guarded.inject({ url: '/list_environments', headers: { 'x-api-key': 'bound' } })
  expect(envs.json()).toEqual(['reasoning-gym', 'mine'])
  await guarded.close()
})

it('a session goes on after a wrong try where the run allows more, and its group has all turns', async () => {
  const settings = { tries: 3, try_discount: 0.5, feedback: 'rule', group_size: 1, tasks: ['gcd'] }
  await world.call('PUT', '/runs/tries', settings)
  const [{ id }] = (await world.call('POST', '/items', { task: 'gcd', seed: 7 })).body.items // of 841 and 549: 1
  const session = await begin({ env_name: 'tries', task_spec: { item_id: id } })
  const wrong = await session.call('submit_answer', { answer: '29' })
  expect(wrong).toMatchObject({ ok: true, output: { reward: 0, finished: false, metadata: { score: 0 } } })
  expect(wrong.output.blocks[0].text).toMatch(/^29 does not divide 549/)
  const right = await session.call('submit_answer', { answer: '1' })
  expect(right).toMatchObject({ ok: true, output: { reward: 0.5, finished: true } })
  expect(await session.call('submit_answer', { answer: '1' })).toEqual(right)
  const { body: page } = await until(
    () => world.call('GET', '/runs/tries/groups'),
    ({ body }) => body.groups[0]?.status === 'scored',
  )
  expect(page.groups[0].verdicts[0]).toMatchObject({
    reward: 0.5,
    turns: [
      { score: 0, answer: '29' },
      { score: 1, answer: '1' },
    ],
  })
  const { body: run } = await world.call('GET', '/runs/tries')
  expect(run.progress.rollouts).toBe(1)
})
