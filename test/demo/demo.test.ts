import { afterAll, beforeAll, expect, it } from 'vitest'
import { DEMO_TASKS } from '../../src/demo/trainer.ts'
import { loadKeyRing } from '../../src/http/auth/key-ring.ts'
import { openWorld, until, type World } from '../world.ts'

const API_KEYS = 'admin:rule,trainer:train,trainer@mine:bound,reader:look,evaluator:judge'

let world: World
beforeAll(async () => {
  world = await openWorld({ worker: true, keyRing: loadKeyRing({ API_KEYS, API_KEYS_FILE: undefined }) })
})
afterAll(() => world.close())

type Method = Parameters<World['call']>[0]
const callAs = (key: string) => (method: Method, url: string, body?: unknown) =>
  world.call(method, url, body, { 'x-api-key': key })
const call = callAs('rule')
const lease = () => world.platform.keys.key('demo:running')
const waitUntilOver = () =>
  until(
    () => world.platform.redis.get(lease()),
    (run) => run === null,
    60_000,
  )

it('a demo trains a new run step by step and measures it with evals, one demo at a time', async () => {
  expect((await call('POST', '/demo', { tasks: ['nope'] })).body.code).toBe('unknown_task')
  const started = await call('POST', '/demo', { steps: 2 })
  expect([started.status, started.body]).toEqual([202, { run: 'demo-1', steps: 2, dashboard: '/#/runs/demo-1' }])
  const second = await call('POST', '/demo', {})
  expect([second.status, second.body.code]).toEqual([429, 'too_many_active'])
  expect(second.body.detail).toContain('(demo-1)')
  await waitUntilOver()

  const run = (await call('GET', '/runs/demo-1')).body
  expect(Object.keys(run.tasks).toSorted()).toEqual(DEMO_TASKS.toSorted())
  expect(run.progress).toMatchObject({ scored_groups: 24 })
  const { body } = await call('GET', '/eval?run=demo-1')
  expect(body.evals.map(({ step, status }: { step: number; status: string }) => [step, status])).toEqual([
    [2, 'done'],
    [0, 'done'],
  ])

  await call('PUT', '/runs/demo-2', {})
  expect((await call('POST', '/demo', { steps: 1 })).body.run).toBe('demo-3')
  await waitUntilOver()
  expect((await call('POST', '/demo', { run: 'demo-3' })).body.code).toBe('run_exists')
})

it('a demo has the rights of the key that starts it', async () => {
  for (const key of ['look', 'judge']) expect((await callAs(key)('POST', '/demo', {})).status).toBe(403)
  const unnamed = await callAs('bound')('POST', '/demo')
  expect([unnamed.status, unnamed.body.detail]).toEqual([403, expect.stringContaining('run: mine')])
  expect((await callAs('bound')('POST', '/demo', { run: 'other' })).status).toBe(403)

  expect((await callAs('bound')('POST', '/demo', { run: 'mine', steps: 1 })).body.run).toBe('mine')
  await waitUntilOver()
  expect((await call('GET', '/runs/mine')).body.lifecycle).toBe('finished')
  // A trainer may not start evals.
  expect((await call('GET', '/eval?run=mine')).body.evals).toEqual([])
})

it('a demo ends when its run is deleted, and does not create it again', async () => {
  expect((await call('POST', '/demo', { run: 'deleted', steps: 40 })).status).toBe(202)
  const progress = async () => (await call('GET', '/runs/deleted')).body.progress
  await until(progress, ({ step }) => step !== null) // the pause before the next step, which begins with items
  expect((await call('DELETE', '/runs/deleted')).status).toBe(204)
  await waitUntilOver()
  expect((await call('GET', '/runs/deleted')).status).toBe(404)
})

it('needs no body, and does not wait long for a demo whose process was killed', async () => {
  await world.platform.redis.set(lease(), 'demo-killed', 'PX', 15_000)
  expect((await callAs('train')('POST', '/demo')).body.detail).toContain('(demo-killed)')
  await waitUntilOver()
  const started = await callAs('train')('POST', '/demo')
  expect([started.status, started.body.steps]).toEqual([202, 40])
  const left = await world.platform.redis.pttl(lease())
  expect(left).toBeGreaterThan(0)
  expect(left).toBeLessThanOrEqual(15_000)
})
