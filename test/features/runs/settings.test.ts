import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRunKeys } from '../../../src/features/runs/records.ts'
import { buildTaskPlans } from '../../../src/features/runs/sequence/sequence.ts'
import { openWorld, type World } from '../../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const put = (run: string, settings: object) => world.call('PUT', `/runs/${run}`, settings)

it('a config that the library refuses is refused with the settings, by its place in them', async () => {
  const { status, body } = await put('typo', { tasks: ['gcd', { task: 'leg_counting', config: { max_animal: 5 } }] })
  expect([status, body.code, body.errors[0].path]).toEqual([400, 'invalid_config', 'tasks.1.config.max_animal'])
  expect(body.detail).toContain('max_animals')
  const { body: bounds } = await put('typo', { tasks: [{ task: 'leg_counting', config: { max_animals: 1 } }] })
  expect(bounds.code).toBe('invalid_config')
  const large = { task: 'rearc', config: { rng_difficulty_ranges: { easy: [0, 1] }, x: 'y'.repeat(100_000) } }
  expect((await put('typo', { tasks: [large] })).body.code).toBe('invalid_config')
  expect((await world.call('GET', '/runs/typo')).status).toBe(404)
})

it('a run needs a task with a weight', async () => {
  for (const tasks of [[{ task: 'ab', weight: 0 }], ['category:games', { task: 'category:games', weight: 0 }]]) {
    const { status, body } = await put('weightless', { tasks })
    expect([status, body.code, body.errors[0].path]).toEqual([400, 'invalid_request', 'tasks'])
  }
})

it('what means the same does not begin the items anew, however it is written', async () => {
  const config = { min_animals: 2, max_animals: 5 }
  const other = { max_animals: 5, min_animals: 2 }
  await put('same', { tasks: [{ task: 'leg_counting', config }, 'gcd'] })
  const { status, body } = await put('same', { tasks: [{ config: other, task: 'leg_counting' }, 'gcd'] })
  expect([status, body.changed, body.restarts]).toEqual([200, [], []])
  const rewritten = {
    tasks: [
      { task: 'leg_counting', config },
      { task: 'gcd', weight: 1 },
    ],
  }
  expect((await put('same', rewritten)).body.restarts).toEqual([])
  const weighted = {
    tasks: [
      { task: 'leg_counting', config },
      { task: 'gcd', weight: 2 },
    ],
  }
  expect((await put('same', weighted)).body).toMatchObject({ changed: ['tasks'], restarts: [] })
  expect((await put('same', { seed: 7 })).body.code).toBe('would_restart')
})

it('the list of runs passes over a name whose run is gone', async () => {
  await put('there', {})
  const { redis, keys } = world.platform
  await redis.sadd(createRunKeys(keys).runs, 'gone')
  const { status, body } = await world.call('GET', '/runs')
  expect(status).toBe(200)
  expect(body.runs.map(({ run }: { run: string }) => run)).toContain('there')
  expect(body.runs.map(({ run }: { run: string }) => run)).not.toContain('gone')
})

describe('exclude', () => {
  const isBenchmark = (task: string) => world.features.tasks.tasks.require(task).public_benchmark !== null
  it('leaves names, categories and public benchmarks out of all tasks', async () => {
    const plansOf = async (run: string) => {
      const { settings } = await world.features.runs.runs.require(run)
      return buildTaskPlans(settings, world.features.tasks.tasks.list()).map(({ task }) => task)
    }
    await put('whole', {})
    const all = await plansOf('whole')
    await put('less', { exclude: ['public_benchmarks', 'maze', 'category:code'] })
    const missing = all.filter((task) => task === 'maze' || ['bf', 'codeio'].includes(task) || isBenchmark(task))
    expect(missing.length).toBeGreaterThan(10)
    expect(all.filter((task) => !missing.includes(task))).toEqual(await plansOf('less'))
    await put('less', { exclude: ['category:code', 'maze', 'public_benchmarks'] }) // another order is no other mix
    expect((await world.call('GET', '/runs/less/mixes')).body.mixes).toHaveLength(1)
    await put('arc', { tasks: ['category:arc', 'arc_1d', 'gcd'], exclude: ['public_benchmarks'] })
    expect(await plansOf('arc')).toEqual(['arc_1d', 'gcd'])
    await put('clean', { preset: 'clean', tasks: ['category:logic', 'aiw'] })
    expect(await plansOf('clean')).not.toContain('circuit_logic')
    expect(await plansOf('clean')).toContain('aiw')
  })

  it('refuses names that are no task, and a run without tasks', async () => {
    expect((await put('unknown', { exclude: ['gcd', 'mase'] })).body).toMatchObject({
      code: 'unknown_task',
      errors: [{ path: 'exclude.1', message: expect.stringContaining('public_benchmarks') }],
    })
    expect((await put('unknown', { exclude: ['category:nope'] })).body.detail).toContain('arithmetic')
    const nothing = await put('nothing', { tasks: ['category:arc'], exclude: ['public_benchmarks'] })
    expect(nothing).toMatchObject({ status: 400, body: { code: 'invalid_request', errors: [{ path: 'tasks' }] } })
    expect(nothing.body.detail).toContain('exclude')
  })
})
