import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ERROR_TABLE } from '../../src/http/errors/error-table.ts'
import { openWorld, type World } from '../world.ts'

let world: World
let id: string

beforeAll(async () => {
  world = await openWorld()
  id = (await world.call('POST', '/items', { task: 'leg_counting' })).body.items[0].id
})
afterAll(() => world.close())

const forged = (rest: unknown, place = 'leg_counting.1.0') =>
  `${place}.${Buffer.from(JSON.stringify(rest)).toString('base64url')}`

describe('bad input gets a problem document with its code', () => {
  it.each([
    ['an unknown task', 'POST', '/items', { task: 'nope' }, 'unknown_task'],
    ['an unknown task in the path', 'GET', '/tasks/nope', undefined, 'unknown_task'],
    ['a task named like a property of objects', 'GET', '/tasks/constructor', undefined, 'unknown_task'],
    ['an unknown config field', 'POST', '/items', { task: 'leg_counting', config: { legs: 3 } }, 'invalid_config'],
    [
      'a config field of the wrong type',
      'POST',
      '/items',
      { task: 'leg_counting', config: { min_animals: 'x' } },
      'invalid_config',
    ],
    [
      'a config that the library refuses',
      'POST',
      '/items',
      { task: 'leg_counting', config: { min_animals: 9, max_animals: 3 } },
      'invalid_config',
    ],
    [
      'a path that the library would read',
      'POST',
      '/items',
      { task: 'spell_backward', config: { data_file: '/etc/passwd' } },
      'invalid_config',
    ],
    [
      'config beside difficulty',
      'POST',
      '/items',
      { task: 'leg_counting', config: {}, difficulty: 0.5 },
      'invalid_request',
    ],
    ['a difficulty out of range', 'POST', '/items', { task: 'leg_counting', difficulty: 1.5 }, 'invalid_request'],
    ['a reserved seed', 'POST', '/items', { task: 'leg_counting', seed: 2 ** 30 }, 'seed_reserved'],
    [
      'a seed and index that reach into the reserved',
      'POST',
      '/items',
      { task: 'leg_counting', seed: 2 ** 30 - 1, index: 1 },
      'seed_reserved',
    ],
    [
      'an index that the task does not have',
      'POST',
      '/items',
      { task: 'word_ladder', index: 5000 },
      'index_out_of_range',
    ],
    ['a misspelt field', 'POST', '/items', { task: 'leg_counting', sed: 1 }, 'invalid_request'],
    ['a negative count', 'POST', '/items', { run: 'x', count: -1 }, 'invalid_request'],
    ['too many items', 'POST', '/items', { run: 'x', count: 1025 }, 'invalid_request'],
    ['a bad run name', 'PUT', '/runs/Not%20a%20name', {}, 'invalid_request'],
    ['an unreadable id', 'GET', '/items/xyz', undefined, 'invalid_item_id'],
    ['an id of another version', 'GET', `/items/${forged(['0.1.19', null, {}])}`, undefined, 'engine_version_mismatch'],
    [
      'an id whose config is not canonical',
      'GET',
      `/items/${forged(['0.1.25', null, { min_animals: 3 }])}`,
      undefined,
      'invalid_item_id',
    ],
    [
      'an id whose config is not valid',
      'GET',
      `/items/${forged(['0.1.25', null, { data_file: '/etc/passwd' }], 'spell_backward.1.0')}`,
      undefined,
      'invalid_config',
    ],
    ['an id of no task', 'GET', `/items/${forged(['0.1.25', null, {}], 'nope.1.0')}`, undefined, 'unknown_task'],
    ['JSON that is none', 'POST', '/score', '{"rollouts":', 'invalid_json'],
    ['NaN', 'POST', '/score', '{"rollouts":[{"item_id":"x","answer":NaN}]}', 'invalid_json'],
    ['Infinity', 'POST', '/score', '[-Infinity]', 'invalid_json'],
    ['no body', 'POST', '/score', undefined, 'invalid_request'],
    ['neither item_id nor recipe', 'POST', '/score', { rollouts: [{ answer: '1' }] }, 'invalid_request'],
    [
      'both completion and answer',
      'POST',
      '/score',
      { rollouts: [{ item_id: 'x', answer: '1', completion: '1' }] },
      'invalid_request',
    ],
    ['an unknown group', 'GET', '/rollouts/nope?run=errors', undefined, 'unknown_run'],
    ['an unknown run', 'GET', '/runs/nope', undefined, 'unknown_run'],
    ['an unknown setting', 'PUT', '/runs/errors', { sede: 1 }, 'invalid_request'],
    ['an unknown task in the settings', 'PUT', '/runs/errors', { tasks: ['nope'] }, 'unknown_task'],
    ['an unknown address', 'GET', '/nope', undefined, 'not_found'],
    ['an eval id that no eval can have', 'GET', '/eval/nope', undefined, 'unknown_eval'],
    ['such an id in a comparison', 'GET', '/eval/compare?a=nope&b=nope', undefined, 'unknown_eval'],
    ['such an id of a collection', 'DELETE', '/runs/errors/collect/nope', undefined, 'unknown_collection'],
    ['a suite that cannot be', 'GET', '/eval/suites/No.Suite', undefined, 'unknown_suite'],
    ['a dump that cannot be', 'GET', '/dumps/nope.jsonl', undefined, 'unknown_dump'],
    ['a dump with a path for a name', 'DELETE', '/dumps/..%2F..%2Fetc%2Fpasswd', undefined, 'unknown_dump'],
    ['no eval at all', 'GET', '/eval/compare', undefined, 'invalid_request'],
    ['a method that the address does not take', 'DELETE', '/tasks', undefined, 'method_not_allowed'],
    ['a broken body where nobody reads it', 'POST', '/nope', '{"a":', 'not_found'],
    ['a broken body that the address does not take', 'PUT', '/tasks', '{"a":', 'method_not_allowed'],
  ] as const)('%s', async (_name, method, url, body, code) => {
    const answer = await world.call(method, url, body)
    expect(answer.body).toMatchObject({
      code,
      status: ERROR_TABLE[code].status,
      title: ERROR_TABLE[code].title,
    })
    expect(answer.status).toBe(ERROR_TABLE[code].status)
    expect(answer.headers['content-type']).toContain('application/problem+json')
    expect(JSON.stringify(answer.body)).not.toContain('Traceback')
  })

  it.each([
    ['POST', '/items', { task: 'nope' }, 'task', 'nope'],
    ['POST', '/eval', { model: null, suite: { tasks: ['category:nope'] } }, 'category', 'nope'],
    ['GET', '/runs/nope', undefined, 'run', 'nope'],
    ['GET', '/eval/eval-000000000000', undefined, 'eval', 'eval-000000000000'],
    ['GET', '/eval/compare?a=nope&b=none', undefined, 'eval', 'nope'],
    ['DELETE', '/runs/errors/collect/nope', undefined, 'collection', 'nope'],
    ['GET', '/eval/suites/none', undefined, 'suite', 'none'],
    ['GET', '/dumps/nope.jsonl', undefined, 'dump', 'nope.jsonl'],
    ['POST', '/demo', { tasks: ['nope'] }, 'task', 'nope'],
  ] as const)('names what does not exist as data: %s %s %j', async (method, url, body, kind, name) => {
    expect((await world.call(method, url, body)).body).toMatchObject({ status: 404, kind, name })
  })

  it('an error about something else names nothing that does not exist', async () => {
    const { body } = await world.call('POST', '/items', { task: 'leg_counting', sed: 1 })
    expect(body).not.toHaveProperty('kind')
    expect(body).not.toHaveProperty('name')
  })

  it('names the field at fault', async () => {
    const misspelt = await world.call('POST', '/items', { task: 'leg_counting', sed: 1 })
    expect(misspelt.body.errors).toContainEqual({ path: 'sed', message: 'unknown field' })
    const config = await world.call('POST', '/items', { task: 'leg_counting', config: { min_animals: 'x' } })
    expect(config.body.errors).toEqual([
      { path: 'config.min_animals', message: 'config.min_animals: expected an integer' },
    ])
  })

  it('passes on the words of the library’s validation', async () => {
    const { body } = await world.call('POST', '/items', {
      task: 'leg_counting',
      config: { min_animals: 9, max_animals: 3 },
    })
    expect(body.detail).toContain('max_animals')
  })

  it('tells Python users where NaN comes from', async () => {
    const { body } = await world.call('POST', '/score', '{"a": NaN}')
    expect(body.detail).toContain('allow_nan=False')
  })

  it('arrays of one rollout that differ in length are refused', async () => {
    const { body } = await world.call('POST', '/rollouts', {
      item_id: id,
      rollouts: [{ completion: 'x', tokens: [1, 2], masks: [1] }],
    })
    expect(body).toMatchObject({
      code: 'invalid_request',
      detail: expect.stringContaining('must have the same length'),
    })
  })

  it('numbers of another dtype are told which are taken', async () => {
    const { body } = await world.call('POST', '/rollouts', {
      item_id: id,
      rollouts: [{ completion: 'x', tokens: { dtype: 'int64', data: 'AAAA' } }],
    })
    expect(body).toMatchObject({ code: 'invalid_request' })
    for (const dtype of ['int32', 'float32', 'uint8', 'int16', 'float64']) expect(body.detail).toContain(dtype)
  })

  it('a body that is too large', async () => {
    const { body } = await world.call('POST', '/items', { task: 'x'.repeat(2_000_000) })
    expect(body.code).toBe('body_too_large')
  })

  it('a body of another type', async () => {
    const { body } = await world.call('POST', '/items', 'task=leg_counting', { 'content-type': 'text/plain' })
    expect(body.code).toBe('unsupported_media_type')
  })

  it('a change that would restart the sequence asks to be confirmed', async () => {
    await world.call('PUT', '/runs/restarting', { seed: 1 })
    expect((await world.call('PUT', '/runs/restarting', { seed: 2 })).body.code).toBe('would_restart')
    expect((await world.call('PUT', '/runs/restarting?restart=true', { seed: 2 })).body).toMatchObject({
      changed: ['seed'],
      restarts: ['seed'],
    })
  })
})

it('every answer repeats the request’s id, or makes one', async () => {
  expect((await world.call('GET', '/livez', undefined, { 'x-request-id': 'mine-1' })).headers['x-request-id']).toBe(
    'mine-1',
  )
  const made = async () =>
    (await world.call('GET', '/livez', undefined, { 'x-request-id': 'not\tplain' })).headers['x-request-id']
  const [one, other] = [await made(), await made()]
  expect(one).toMatch(/^[0-9a-f-]{36}-\d+$/)
  expect(other).not.toBe(one)
})

it('a method that is not taken is told which are, also one that few know', async () => {
  for (const method of ['DELETE', 'QUERY', 'TRACE'] as const) {
    const answer = await world.app.inject({ method: method as 'DELETE', url: '/tasks?q=x' })
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'GET, HEAD'])
  }
})
