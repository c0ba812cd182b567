/** OpenEnv over WebSocket and HTTP, and the Model Context Protocol: what their clients send, and what they must get. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readAction } from '../../../src/features/adapters/openenv/wire.ts'
import { HANGING, openWorld, until, type World } from '../../world.ts'
import { type Frame, SocketClient } from './socket-client.ts'

let world: World
let port: number
const LEGS = { task: 'leg_counting', seed: 42 } // its answer is 100
const tagged = (answer: string) => `<think>so</think><answer>${answer}</answer>`

beforeAll(async () => {
  world = await openWorld({ SCORE_DEADLINE_MS: 300, OPENENV_MAX_SOCKETS: 40 })
  port = Number(new URL(await world.app.listen({ port: 0, host: '127.0.0.1' })).port)
})
afterAll(() => world.close())

class Client extends SocketClient {
  constructor(path: string) {
    super(`ws://127.0.0.1:${port}${path}`)
  }
}

async function withClient(path: string, use: (client: Client) => Promise<void>): Promise<void> {
  const client = await new Client(path).open()
  try {
    await use(client)
  } finally {
    await client.close()
  }
}

describe('an episode', () => {
  it('shows instructions and question, scores a completion once, and keeps its ID', () =>
    withClient('/openenv/ws', async (client) => {
      const shown = await client.ask('reset', { ...LEGS, episode_id: 'episode-1', new_field: {} })
      expect(shown).toMatchObject({ type: 'observation', data: { reward: null, done: false } })
      expect(Object.keys(shown.data.observation)).toEqual(['question'])
      expect(shown.data.observation.question).toMatch(/<answer>.*12 deers, 2 giraffes/s)
      const { item_id, task } = shown.data.metadata
      expect(task).toBe('leg_counting')
      expect((await client.ask('state')).data).toMatchObject({ episode_id: 'episode-1', step_count: 0, item_id })
      const scored = await client.ask('step', { completion: tagged('100') })
      expect(scored).toMatchObject({
        type: 'observation',
        data: { reward: 1, done: true, metadata: { item_id, score: 1, fault: null, answer: '100' } },
      })
      expect(await client.ask('step', { completion: tagged('100') })).toEqual(scored)
      expect(await client.ask('step', { completion: tagged('99') })).toMatchObject({
        type: 'error',
        data: { code: 'EXECUTION_ERROR', message: expect.stringContaining('call reset') },
      })
      expect((await client.ask('state')).data).toMatchObject({ episode_id: 'episode-1', step_count: 1, done: true })
      const again = await client.ask('reset', { item_id })
      expect(again.data.metadata.item_id).toBe(item_id)
      expect(again.data.metadata.episode_id).not.toBe('episode-1')
    }))

  it.each<[string, Record<string, unknown>, number, string | null]>([
    ['a right completion', { completion: tagged('100') }, 1, null],
    ['a wrong one', { completion: tagged('') }, 0, null],
    ['one that is partly right', { message: tagged('1000') }, 0.75, null],
    ['text without an answer', { text: 'I do not know.' }, 0, 'no_answer'],
    ['a message', { message: { role: 'assistant', content: tagged('100') } }, 1, null],
    ['parts of a message', { content: [{ type: 'text', text: tagged('100') }] }, 1, null],
    ['nothing', { content: null }, 0, 'no_answer'],
    ['a bare answer', { answer: '100' }, 1, null],
    ['a bare answer that is a number', { answer: 100 }, 1, null],
    ['a reply that was JSON', { completion: 100 }, 0, 'no_answer'],
  ])('rewards %s', (_name, action, reward, fault) =>
    withClient('/openenv/ws', async (client) => {
      await client.ask('reset', LEGS)
      const { data } = await client.ask('step', action)
      expect([data.reward, data.done, data.metadata.fault]).toEqual([reward, true, fault])
    }),
  )

  it('begins with a task of the task API, and one of the split test counts in no run', async () => {
    await world.call('PUT', '/runs/tasked', {})
    const ask = async (path: string, body?: object) =>
      (await world.callOnly(body ? 'POST' : 'GET', `/openenv${path}`, body)).body
    expect(await ask('/list_environments')).toEqual(expect.arrayContaining(['reasoning-gym', 'tasked']))
    expect(await ask('/tasked/list_environments')).toEqual(['tasked'])
    const splits = [
      { name: 'train', type: 'train' },
      { name: 'test', type: 'test' },
    ]
    expect(await ask('/reasoning-gym/splits')).toEqual(splits)
    expect(await ask('/tasked/tasked/splits')).toEqual(splits)
    expect(await ask('/tasked/num_tasks', { split: 'train' })).toEqual({ num_tasks: 100_000 })
    expect((await ask('/tasked/tasked/tasks', { split: 'train' })).tasks).toHaveLength(1000)
    const env_name = 'tasked'
    expect(await ask('/tasked/tasked/task', { split: 'train', index: 3 })).toEqual({ task: { position: 3 }, env_name })
    const range = await ask('/reasoning-gym/task_range', { split: 'train', start: 5, stop: 7 })
    const { task } = await ask('/reasoning-gym/task', { split: 'train', index: 5 })
    expect([range.tasks.length, range.tasks[0]]).toEqual([2, task])
    expect(await ask('/tasked/other/splits')).toMatchObject({ code: 'not_found' })
    expect(await ask('/tasked/tasked/task', { split: 'dev', index: 0 })).toMatchObject({ code: 'invalid_request' })
    await withClient('/openenv/ws', async (client) => {
      const shown = await client.ask('reset', { split: 'train', index: 5 })
      expect(shown.data.metadata.item_id).toBe(task.item_id)
      expect(await client.ask('reset', { split: 'train' })).toMatchObject({ data: { code: 'VALIDATION_ERROR' } })
      expect((await client.ask('reset', { split: 'train', index: 10_000 })).type).toBe('error')
    })
    await withClient('/openenv/tasked/ws', async (client) => {
      const byPosition = await client.ask('reset', { position: 3 })
      const byTask = await client.ask('reset', { split: 'train', index: 3 })
      expect(byTask.data.metadata.item_id).toBe(byPosition.data.metadata.item_id)
      await client.ask('step', { completion: tagged('1') })
      const test = await ask('/tasked/tasked/task', { split: 'test', index: 0 })
      expect((await client.ask('reset', { split: 'test', index: 0 })).data.metadata.item_id).toBe(test.task.item_id)
      expect((await client.ask('step', { completion: tagged('1') })).data.done).toBe(true)
    })
    await until(
      async () => (await world.call('GET', '/runs/tasked')).body.progress.open_groups,
      (open) => open === 1,
    )
  })

  it('goes on after a wrong try where the run allows more, and the whole rollout counts once', async () => {
    await world.call('PUT', '/runs/tries', {
      tries: 3,
      try_discount: 0.5,
      feedback: 'rule',
      group_size: 1,
      tasks: ['gcd'],
    })
    await withClient('/openenv/tries/ws', async (client) => {
      const { data } = await client.ask('reset', { task: 'gcd', seed: 7 }) // of 841 and 549: 1
      expect(data.observation.question).toContain('841')
      const first = await client.ask('step', { completion: tagged('29') })
      expect(first.data).toMatchObject({
        observation: { question: '29 does not divide 549.\nThink again, and give a new answer in the same format.' },
        reward: 0,
        done: false,
        metadata: { score: 0, tries_left: 2, feedback: { kind: 'rule' } },
      })
      const last = await client.ask('step', { completion: tagged('1') })
      expect(last.data).toMatchObject({ reward: 0.5, done: true, metadata: { score: 1 } })
      expect(await client.ask('step', { completion: tagged('1') })).toEqual(last)
      await client.ask('reset', { task: 'gcd', seed: 8 })
      for (const done of [false, false, true])
        expect((await client.ask('step', { completion: 'none' })).data).toMatchObject({ done, reward: 0 })
    })
    const step = { item_id: (await world.call('POST', '/items', { task: 'gcd', seed: 7 })).body.items[0].id }
    const { body } = await world.call('POST', '/openenv/tries/step', { ...step, action: { answer: '29' } })
    expect(body).toMatchObject({ done: true, reward: 0 }) // a call by itself has no other try
  })

  it('writes rewards as floats, because integers would be tensors of integers', () =>
    withClient('/openenv/ws', async (client) => {
      await client.ask('reset', LEGS)
      client.send({ type: 'step', data: { answer: '100' } })
      const [{ data }] = await once(client.socket, 'message')
      expect(String(data)).toMatch(/"reward":1\.0,/)
    }))

  it('stays open when a completion cannot be scored', () =>
    withClient('/openenv/ws', async (client) => {
      await client.ask('reset', { task: HANGING.task, seed: 1 })
      expect(await client.ask('step', { completion: tagged(HANGING.answer) })).toMatchObject({
        type: 'error',
        data: { code: 'EXECUTION_ERROR', unscored: 'scorer_timeout' },
      })
      expect((await client.ask('state')).data.done).toBe(false)
      expect((await client.ask('step', { text: 'I do not know.' })).data.done).toBe(true)
    }))

  it('goes on by item ID after its connection was lost', () =>
    withClient('/openenv/ws', async (client) => {
      expect((await client.ask('step', { answer: '100' })).data.message).toMatch(/call reset/)
      const { body } = await world.call('POST', '/items', LEGS)
      const { data } = await client.ask('step', { answer: '100', item_id: body.items[0].id, episode_id: 'old' })
      expect([data.reward, data.metadata.episode_id]).toEqual([1, 'old'])
    }))
})

describe('a reset', () => {
  const itemOf = async (client: Client, data?: object): Promise<string> =>
    (await client.ask('reset', data)).data.metadata.item_id

  it('takes a seed alone for an item of any task, and the same seed for the same item', () =>
    withClient('/openenv/ws', async (client) => {
      const [one, two, other] = [
        await itemOf(client, { seed: 7 }),
        await itemOf(client, { seed: 7 }),
        await itemOf(client, { seed: 8 }),
      ]
      expect(one).toBe(two)
      expect(one).not.toBe(other)
    }))

  it('without arguments goes on with the series that the connection began, or draws an item', () =>
    withClient('/openenv/ws', async (client) => {
      expect(await itemOf(client)).toMatch(/^\w+\.\d+\.0\./)
      const series = { dataset_name: 'leg_counting', dataset_config: { max_animals: 4 }, seed: 5, size: 2 }
      const ids = [await itemOf(client, series), await itemOf(client), await itemOf(client, {})]
      expect(ids.map((id) => id.slice(0, 16))).toEqual(['leg_counting.5.0', 'leg_counting.5.1', 'leg_counting.5.0'])
    }))

  it('of a run gives its next item, its prompt and its rules', async () => {
    const settings = { tasks: ['gcd'], system_prompt: 'Only the number.', extraction: 'bare', seed: 3 }
    await world.call('PUT', '/runs/openenv-run', settings)
    await withClient('/openenv/openenv-run/ws', async (client) => {
      const first = await client.ask('reset')
      expect(first.data.observation.question).toMatch(/^Only the number\.\n\n/)
      expect(first.data.metadata).toMatchObject({ task: 'gcd', run: 'openenv-run' })
      expect(await itemOf(client)).not.toBe(first.data.metadata.item_id)
      const [tenth] = (await world.call('POST', '/items', { run: 'openenv-run', position: 10 })).body.items
      expect([await itemOf(client, { position: 10 }), await itemOf(client, { seed: 10 })]).toEqual([tenth.id, tenth.id])
      const revealed = await world.call('GET', `/items/${first.data.metadata.item_id}?reveal=true`)
      await client.ask('reset', { item_id: first.data.metadata.item_id })
      expect((await client.ask('step', { completion: revealed.body.answer })).data.reward).toBe(1)
    })
  })

  it.each<[string, object, string]>([
    ['an unknown task', { task: 'nope' }, 'EXECUTION_ERROR'],
    ['an item ID that cannot be read', { item_id: 'nope' }, 'EXECUTION_ERROR'],
    ['two items', { item_id: 'a', task: 'gcd' }, 'VALIDATION_ERROR'],
    ['a position without a run', { position: 0 }, 'VALIDATION_ERROR'],
    ['a field of another type', { seed: 'one' }, 'VALIDATION_ERROR'],
    ['a mix of datasets', { dataset_name: 'composite' }, 'VALIDATION_ERROR'],
  ])('refuses %s and keeps the connection', (_name, data, code) =>
    withClient('/openenv/ws', async (client) => {
      expect(await client.ask('reset', data)).toMatchObject({ type: 'error', data: { code } })
      expect((await client.ask('reset', LEGS)).type).toBe('observation')
    }),
  )
})

describe('a connection', () => {
  it('answers in order, whatever comes, also all at once', () =>
    withClient('/openenv/ws', async (client) => {
      const frames = [
        '{',
        '[]',
        { type: 'render' },
        { type: 'step' },
        { type: 'reset', data: LEGS },
        { type: 'step', data: {} },
        { type: 'step', data: { answer: '100' } },
        { type: 'state' },
      ]
      for (const frame of frames) client.send(frame)
      const answers: Frame[] = []
      for (let k = 0; k < frames.length; k++) answers.push(await client.receive())
      expect(answers.map(({ type, data }) => (type === 'error' ? data.code : type))).toEqual([
        'INVALID_JSON',
        'UNKNOWN_TYPE',
        'UNKNOWN_TYPE',
        'VALIDATION_ERROR',
        'observation',
        'VALIDATION_ERROR',
        'observation',
        'state',
      ])
    }))

  it('is closed by the frame `close`, and by a message that is too large', async () => {
    const client = await new Client('/openenv/ws').open()
    const closed = once(client.socket, 'close')
    client.send({ type: 'close' })
    expect((await closed)[0].code).toBe(1000)
    const large = await new Client('/openenv/ws').open()
    const dropped = once(large.socket, 'close')
    large.send('x'.repeat(4 * 1024 * 1024 + 1))
    expect((await dropped)[0].code).toBe(1009)
  })

  it('to a run that does not exist gets an error that names a similar one', () =>
    withClient('/openenv/deletde/ws', async (client) => {
      await world.call('PUT', '/runs/deleted', {})
      const message = expect.stringContaining('Did you mean "deleted"?')
      const unknown = { type: 'error', data: { code: 'EXECUTION_ERROR', error: 'unknown_run', message } }
      expect(await client.ask('reset')).toMatchObject(unknown)
      expect((await world.call('GET', '/runs/deletde')).status).toBe(404)
    }))

  it('does not create its run again after the run was deleted', () =>
    withClient('/openenv/deleted/ws', async (client) => {
      const { data } = await client.ask('reset')
      expect(data.metadata.run).toBe('deleted')
      expect((await world.call('DELETE', '/runs/deleted')).status).toBe(204)
      const recreated = { type: 'error', data: { code: 'EXECUTION_ERROR', error: 'run_recreated' } }
      expect(await client.ask('step', { answer: '1' })).toMatchObject(recreated)
      expect(await client.ask('reset')).toMatchObject(recreated)
      expect((await world.call('GET', '/runs/deleted')).status).toBe(404)
      await world.call('PUT', '/runs/deleted', { tasks: ['gcd'] })
      expect(await client.ask('reset')).toMatchObject(recreated)
      await withClient('/openenv/deleted/ws', async (other) =>
        expect((await other.ask('reset')).data.metadata.task).toBe('gcd'),
      )
    }))

  it('is refused with a frame above the limit, and one that closed makes room', async () => {
    const clients = await Promise.all(Array.from({ length: 40 }, () => new Client('/openenv/ws').open()))
    const refused = new Client('/openenv/ws')
    expect(await refused.receive()).toMatchObject({ type: 'error', data: { code: 'CAPACITY_REACHED' } })
    await Promise.all(clients.map((client) => client.close()))
    await until(
      async () => world.features.adapters.openenv.sockets.size,
      (size) => size === 0,
    )
    await withClient('/openenv/ws', async (client) => expect((await client.ask('state')).type).toBe('state'))
  })

  it('that is refused ends, and another upgrade is no WebSocket', async () => {
    for (const [path, upgrade, status] of [
      ['/openenv/ws?x=1', 'websocket', 400],
      ['/livez', 'websocket', 200],
      ['/livez', 'h2c', 200],
    ] as const) {
      const socket = connect(port, '127.0.0.1')
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade, close\r\nUpgrade: ${upgrade}\r\n` +
          'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eHh4eHh4eHh4eHh4eHh4eA==\r\n\r\n',
      )
      let text = ''
      socket.setEncoding('utf8').on('data', (chunk) => {
        text += String(chunk)
      })
      await once(socket, 'end')
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    }
  })
})

it('all of it works over HTTP, without a connection', async () => {
  const reset = await world.call('POST', '/openenv/reset', LEGS)
  expect(reset).toMatchObject({ status: 200, body: { reward: null, done: false } })
  const { item_id, episode_id } = reset.body.metadata
  const step = (action: object) => world.call('POST', '/openenv/step', { action, item_id, episode_id, timeout_s: 30 })
  expect((await step({ completion: tagged('100') })).body).toMatchObject({
    reward: 1,
    done: true,
    metadata: { score: 1 },
  })
  expect((await step({ nothing: 1 })).status).toBe(400)
  const hanging = (await world.call('POST', '/openenv/reset', { task: HANGING.task, seed: 1 })).body.metadata.item_id
  const unscored = await world.call('POST', '/openenv/step', { action: { answer: HANGING.answer }, item_id: hanging })
  expect(unscored).toMatchObject({
    status: 200,
    body: { reward: null, done: false, metadata: { unscored: 'scorer_timeout' } },
  })
  for (const prefix of ['/openenv', '/openenv/some-run']) {
    const get = async (path: string) => (await world.call('GET', `${prefix}/${path}`)).body
    expect(await get('health')).toEqual({ status: 'healthy' })
    expect(await get('metadata')).toMatchObject({ name: expect.any(String), description: expect.any(String) })
    expect((await get('schema')).action).toMatchObject({ title: 'ReasoningGymAction', required: ['completion'] })
    expect(await get('state')).toEqual({ episode_id: null, step_count: 0 })
    const { info, paths } = await get('openapi.json')
    expect(info.version).toMatch(/^1\./)
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/reset', '/step', '/state']))
  }
})

it('actions are read whatever their JSON type', () => {
  const textOf = (data: Record<string, unknown>) => readAction(data).submission
  expect(textOf({ answer: [1, 'a', { b: null }] })).toEqual({ kind: 'answer', answer: '[1, "a", {"b": null}]' })
  expect(textOf({ answer: false })).toEqual({ kind: 'answer', answer: 'false' })
  expect(textOf({ completion: { a: 1 } })).toEqual({ kind: 'completion', completion: '{"a": 1}' })
  expect(textOf({ messages: [{ role: 'assistant', content: 'x' }] }).kind).toBe('messages')
  expect(readAction({ text: 'x', completion_tokens: 7, finish_reason: 'length' })).toMatchObject({
    tokens: 7,
    finishReason: 'length',
  })
})

it('closes its connections with a frame when the server closes', async () => {
  const client = await new Client('/openenv/ws').open()
  const closed = once(client.socket, 'close')
  await world.app.close()
  expect((await closed)[0]).toMatchObject({ code: 1001, reason: 'The server is shutting down' })
})
