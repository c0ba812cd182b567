import { afterAll, beforeAll, expect, it } from 'vitest'
import { DEMO_TASKS } from '../../src/demo/trainer.ts'
import { openWorld, until, type World } from '../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
})
afterAll(() => world.close())

const isOver = async () => (await world.platform.redis.get(world.platform.keys.key('demo:running'))) === null

it('a demo trains a new run step by step and measures it with evals, one demo at a time', async () => {
  const started = await world.call('POST', '/demo', { steps: 2 })
  expect([started.status, started.body]).toEqual([202, { run: 'demo-1', steps: 2, dashboard: '/#/runs/demo-1' }])
  const second = await world.call('POST', '/demo', {})
  expect([second.status, second.body.code]).toEqual([429, 'too_many_active'])
  expect(second.body.detail).toContain('(demo-1)')
  await until(isOver, (over) => over, 60_000)

  const run = (await world.call('GET', '/runs/demo-1')).body
  expect(Object.keys(run.tasks).toSorted()).toEqual(DEMO_TASKS.toSorted())
  expect(run.progress).toMatchObject({ scored_groups: 24 })
  const { body } = await world.call('GET', '/eval?run=demo-1')
  expect(body.evals.map(({ step, status }: { step: number; status: string }) => [step, status])).toEqual([
    [2, 'done'],
    [0, 'done'],
  ])

  await world.call('PUT', '/runs/demo-2', {})
  expect((await world.call('POST', '/demo', { steps: 1 })).body.run).toBe('demo-3')
  await until(isOver, (over) => over, 60_000)
  expect((await world.call('POST', '/demo', { run: 'demo-3' })).body.code).toBe('run_exists')
})
