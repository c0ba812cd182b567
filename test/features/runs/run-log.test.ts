import type { Item } from '@reasoning-gym-server/contract/item'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { FormatFaultLogger } from '../../../src/features/rollouts/completion-effects.ts'
import { createLogger } from '../../../src/platform/log.ts'
import { openWorld, takeItems, until, type World } from '../../world.ts'
import { aboutItem, ids, postGroups, right } from '../dumps/dumping.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails where it is not there
type Line = any

let world: World
let item: Awaited<ReturnType<typeof aboutItem>>
const lines: Line[] = []
const INFO = 30
const DEBUG = 20

beforeAll(async () => {
  world = await openWorld({ worker: true, onLog: (line) => lines.push(JSON.parse(line)) })
  item = await aboutItem(world)
})
afterAll(() => world.close())

const linesOf = (run: string) => lines.filter((line) => line.run === run)
const linesWith = (run: string, msg: string) => linesOf(run).filter((line) => line.msg === msg)
const waitForLines = (run: string, msg: string, count = 1) =>
  until(
    async () => linesWith(run, msg),
    (found) => found.length >= count,
  )

it('says which engine there is, how many tasks, and where the data is', async () => {
  const [line] = await until(
    async () => lines.filter(({ msg }) => msg === 'tasks loaded'),
    (found) => found.length > 0,
  )
  expect(line).toMatchObject({ level: INFO, library: 'reasoning-gym', version: '0.1.25', tasks: 105 })
  expect(line.data).toContain('rgs-world-')
})

it('a group is one line, with its run, task, scores and the request that posted it', async () => {
  await world.call('PUT', '/runs/told', {})
  await world.call(
    'POST',
    '/rollouts',
    { run: 'told', item_id: item.id, group_id: 'g', rollouts: [right, { completion: 'none' }] },
    { prefer: 'wait=20', 'x-request-id': 'req-1' },
  )
  expect(await waitForLines('told', 'group scored')).toEqual([
    expect.objectContaining({
      level: INFO,
      group: 'g',
      task: 'leg_counting',
      request_id: 'req-1',
      mean_score: 0.5,
      mean_reward: 0.5,
      destination: 'buffered',
    }),
  ])
})

it('nothing of a completion, no answer and no key stands at info level', async () => {
  await world.call('PUT', '/runs/quiet', {})
  await postGroups(world, 'quiet', item.id, ids(20), [{ completion: '<answer>100</answer> XYZZY' }])
  await world.call('GET', '/runs/quiet', undefined, { authorization: 'Bearer SECRET', 'x-api-key': 'SECRET' })
  const text = JSON.stringify(linesOf('quiet'))
  expect(text).not.toContain('XYZZY')
  expect(text).not.toContain('SECRET')
  expect(text).not.toContain('"100"')
  expect(linesOf('quiet').some(({ level }) => level < INFO)).toBe(false)
})

it('fields with keys and answers are struck out, and an error loses the command it carries', () => {
  const out: string[] = []
  const log = createLogger('info', 'x', { write: (line) => out.push(line) })
  const error = Object.assign(new Error('READONLY'), { command: { name: 'evalsha', args: ['XYZZY'] }, code: 'E1' })
  log.info({ model: { name: 'm', api_key: 'SECRET' }, headers: { authorization: 'Bearer SECRET' } }, 'a')
  log.info({ api_key: 'SECRET', entry: { answer: 'XYZZY' }, headers: { 'x-api-key': 'SECRET' } }, 'b')
  log.warn({ err: new Error('outer', { cause: error }) }, 'c')
  expect(out.join('')).not.toMatch(/SECRET|XYZZY/)
  expect(JSON.parse(out[2] ?? '').err).toMatchObject({ message: 'outer', cause: { message: 'READONLY', code: 'E1' } })
})

it('debug_logging shows extraction and parsed answers of its run alone, at once', async () => {
  const long = { completion: `<think>${'very long '.repeat(1000)}</think><answer>100</answer>` }
  const rollouts = [long, { completion: 'no tags' }]
  await world.call('PUT', '/runs/bug', {})
  await world.call('PUT', '/runs/other', {})
  await postGroups(world, 'bug', item.id, ['before'], rollouts)
  await world.call('PUT', '/runs/bug', { debug_logging: true })
  await postGroups(world, 'bug', item.id, ['during'], rollouts)
  await postGroups(world, 'other', item.id, ['during'], rollouts)
  await world.call('PUT', '/runs/bug', { debug_logging: false })
  await postGroups(world, 'bug', item.id, ['after'], rollouts)
  const judged = await waitForLines('bug', 'completion graded', 2)
  expect(judged).toHaveLength(2)
  expect(judged[0]).toMatchObject({
    level: DEBUG,
    group: 'during',
    rollout: 0,
    extraction: 'strict',
    answer: '100',
    fault: null,
    parsed_answers: { bare: 1 },
    score: 1,
  })
  expect(judged[0].parsed_answers).toHaveProperty('in_tags')
  expect(judged[0].completion.length).toBeLessThan(500)
  expect(judged[1]).toMatchObject({
    rollout: 1,
    completion: 'no tags',
    answer: null,
    fault: 'no_answer',
    parsed_answers: {},
  })
  expect(linesWith('bug', 'group item')).toEqual([
    expect.objectContaining({ task: 'leg_counting', difficulty: null, seed: 42 }),
  ])
  expect(linesOf('other').every(({ level }) => level >= INFO)).toBe(true)
})

it('debug_logging shows the task and difficulty that were chosen', async () => {
  await world.call('PUT', '/runs/chosen', {
    debug_logging: true,
    tasks: ['gcd'],
    complexity_mode: 'fixed',
    difficulty: 1,
  })
  const request = () => world.call('POST', '/items', { run: 'chosen' })
  const { body } = await until(request, ({ status }) => status === 200) // 503 while the item is made
  const [line] = await waitForLines('chosen', 'an item is handed out')
  expect(line).toMatchObject({ level: DEBUG, task: 'gcd', difficulty: 1, item_id: body.items[0].id })
})

it('suppress_base_env_logs hides requests and jobs; without it they are told', async () => {
  await world.call('PUT', '/runs/hushed', { tasks: ['leg_counting'] })
  await postGroups(world, 'hushed', item.id, ids(2), [right])
  await world.call('PUT', '/runs/chatty', { tasks: ['leg_counting'], suppress_base_env_logs: false })
  await postGroups(world, 'chatty', item.id, ids(2), [right])
  const [posted] = (await waitForLines('chatty', 'request')).filter(({ url }) => url === '/rollouts')
  expect(posted).toMatchObject({ level: INFO, method: 'POST', status: 202 })
  expect(posted.request_id).toBeTruthy()
  await waitForLines('chatty', 'job started', 2)
  await waitForLines('chatty', 'job finished', 2)
  await waitForLines('hushed', 'group scored', 2)
  expect(new Set(linesOf('hushed').map(({ msg }) => msg))).toEqual(new Set(['group scored']))
})

it('a curriculum that moves says from where to where', async () => {
  await world.call('PUT', '/runs/moves', { complexity_mode: 'curriculum', tasks: ['leg_counting'] })
  for (let k = 0; k < 4; k++) {
    const [{ id }] = (await takeItems(world, 'moves', 1)) as [Item]
    const { answer } = (await world.call('GET', `/items/${id}?reveal=true`)).body
    await postGroups(world, 'moves', id, [`m${k}`], [{ completion: `<answer>${answer}</answer>` }])
  }
  const [line] = await waitForLines('moves', 'task difficulty changed')
  expect(line).toMatchObject({ level: INFO, task: 'leg_counting', from: 0.3 })
  expect(line.to).toBeGreaterThan(0.3)
})

it('format faults are counted, one line a run', () => {
  const out: Line[] = []
  const faults = new FormatFaultLogger(createLogger('info', 'x', { write: (line) => out.push(JSON.parse(line)) }))
  const verdict = (fault: 'no_answer' | 'many_answers' | null) =>
    ({
      status: 'scored',
      reward: 0,
      score: 0,
      answer: null,
      fault,
      components: { correct: 0, format: fault ? 0 : 1, length_penalty: 0, try_discount: 0 },
      advantage: 0,
    }) as const
  faults.add('a', [verdict('no_answer'), verdict(null), verdict('many_answers')])
  faults.add('a', [verdict('no_answer')])
  faults.add('b', [verdict(null)])
  faults.flush()
  faults.close()
  expect(out).toEqual([expect.objectContaining({ run: 'a', rollouts: 4, faults: { no_answer: 2, many_answers: 1 } })])
})
