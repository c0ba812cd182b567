/** The mix of tasks of a live run can change at any time; what was handed out stays as it is, and each item says how likely it was. */
import type { Item } from '@reasoning-gym-server/contract/item'
import type { RunMix } from '@reasoning-gym-server/contract/run-control'
import type { SettingsChange } from '@reasoning-gym-server/contract/run-settings'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TaskFrontiers } from '../../../src/features/runs/curriculum/task-frontiers.ts'
import { createRunKeys } from '../../../src/features/runs/records.ts'
import { ItemDraws } from '../../../src/features/runs/sequence/item-draws.ts'
import { PositionRepository } from '../../../src/features/runs/sequence/positions.ts'
import { positionOfSeed } from '../../../src/features/runs/sequence/sequence.ts'
import { type ResolvedRun, resolveRun } from '../../../src/features/runs/types.ts'
import { openWorld, until, type World } from '../../world.ts'

let world: World
let node: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
  node = await openWorld({ prefix: world.prefix })
})
afterAll(async () => {
  await node.close()
  await world.close()
})

const SEED = 42
const positionOf = (item: Item) => positionOfSeed(SEED, item.recipe.seed)
const steer = (run: string, tasks: unknown, headers = {}, from = world) =>
  from.call('PATCH', `/runs/${run}`, { mix: { tasks } }, headers)
const mixesOf = async (run: string, from = world) => (await from.call('GET', `/runs/${run}/mixes`)).body.mixes
const ask = async (body: object, from = world): Promise<Item[]> =>
  (await from.call('POST', '/items', body, { prefer: 'wait=60' })).body.items

describe('a new mix', () => {
  it('is rejected once the run has had items of 60,000 tasks and configs, which two bytes distinguish', async () => {
    await world.call('PUT', '/runs/varied', { tasks: ['gcd'] })
    const { epoch } = await world.features.runs.runs.require('varied')
    const { issuedTasks } = createRunKeys(world.platform.keys).forRun('varied', epoch)
    await world.platform.redis.rpush(issuedTasks, ...Array.from({ length: 59_999 }, (_, k) => `gcd {"seed":${k}}`))
    expect((await steer('varied', [{ task: 'lcm' }])).status).toBe(200)
    const first = await ask({ run: 'varied', step: 0, count: 4 })
    expect(await ask({ run: 'varied', step: 0, count: 4 }, node)).toEqual(first)
    expect(first.map(({ task }) => task)).toEqual(Array(4).fill('lcm'))
    const rejected = await steer('varied', [{ task: 'chain_sum' }])
    expect([rejected.status, rejected.body.code]).toEqual([400, 'invalid_request'])
    expect((await world.call('PUT', '/runs/varied?restart=true', { tasks: ['chain_sum'] })).status).toBe(200)
  })

  it('begins at the next position; earlier ones keep their items on every node, and in a checkpoint', async () => {
    const config = { min_terms: 2, max_terms: 3 }
    const tasks = [
      { task: 'chain_sum', config },
      { task: 'gcd', weight: 2 },
    ]
    await world.call('PUT', '/runs/steered', { tasks, complexity_mode: 'random' })
    const [before, far] = [
      await ask({ run: 'steered', step: 0, count: 16 }),
      await ask({ run: 'steered', position: 90 }),
    ]
    expect(new Set(before.map(({ task }) => task))).toEqual(new Set(['chain_sum', 'gcd']))
    for (const { task, propensity } of before) {
      if (task === 'chain_sum') expect(propensity).toBe(0.333333)
      else expect(propensity).toBeLessThanOrEqual(0.666667)
    }

    const shown = await node.call('GET', `/items/${before[0]?.id}?run=steered`)
    expect(shown.body).toEqual(before[0])

    const mix = [
      { task: 'chain_sum', difficulty: 0.5 },
      { task: 'leg_counting', weight: 3, difficulty: [0.4, 0.6] },
    ]
    expect((await steer('steered', mix, {}, node)).body.settings.tasks).toEqual([{ weight: 1, ...mix[0] }, mix[1]])
    const after = await ask({ run: 'steered', step: 1, count: 32 })
    const counts = Map.groupBy(after, ({ task }) => task)
    expect([...counts.keys()].toSorted()).toEqual(['chain_sum', 'leg_counting'])
    for (const { propensity } of counts.get('chain_sum') ?? []) expect(propensity).toBe(0.25)
    for (const { difficulty } of counts.get('leg_counting') ?? [])
      expect(Math.abs((difficulty ?? 0) - 0.5)).toBeLessThan(0.1)
    expect(await mixesOf('steered', node)).toEqual([
      {
        number: 0,
        position: 0,
        step: null,
        at: expect.any(String),
        tasks: [{ ...tasks[0], weight: 1 }, tasks[1]],
        exclude: [],
      },
      {
        number: 1,
        position: 16,
        step: null,
        at: expect.any(String),
        tasks: [{ weight: 1, ...mix[0] }, mix[1]],
        exclude: [],
      },
    ])

    const checkpoint = (await world.call('GET', '/runs/steered/checkpoint')).body
    await world.call('PUT', '/runs/elsewhere/checkpoint', checkpoint)
    for (const [run, from] of [
      ['steered', node],
      ['elsewhere', world],
    ] as const) {
      expect(await ask({ run, position: 0, count: 16 }, from)).toEqual(before)
      expect(await ask({ run, position: 16, count: 32 }, from)).toEqual(after)
      expect(await ask({ run, position: 90 }, from)).toEqual(far)
      expect(await mixesOf(run, from)).toHaveLength(2)
    }
    expect(await ask({ run: 'elsewhere', step: 2, count: 16 })).toEqual(
      await ask({ run: 'steered', step: 2, count: 16 }),
    )

    const edited = { ...checkpoint, settings: { ...checkpoint.settings, tasks: ['gcd'] } }
    await world.call('PUT', '/runs/edited/checkpoint', edited)
    expect((await mixesOf('edited')).slice(2)).toMatchObject([{ number: 2, position: 48, tasks: ['gcd'] }])
    expect(await ask({ run: 'edited', position: 0, count: 16 })).toEqual(before)
    expect((await ask({ run: 'edited', position: 48 }))[0]?.task).toBe('gcd')

    const put = (settings: object, query = '') => world.call('PUT', `/runs/steered${query}`, settings)
    expect((await put({ tasks: ['gcd'] })).body).toMatchObject({ changed: ['tasks'], restarts: [] })
    expect((await ask({ run: 'steered', step: 3, count: 4 })).map(({ task }) => task)).toEqual(Array(4).fill('gcd'))
    expect(await ask({ run: 'steered', step: 1 })).toEqual(after)
    expect((await put({ tasks: ['chain_sum'] }, '?restart=true')).body.restarts).toEqual(['tasks'])
    expect(await mixesOf('steered')).toMatchObject([{ number: 0, position: 0, tasks: ['chain_sum'] }])
  })

  it('is rejected as the setting `tasks` is, and needs a run; a repeated key sets it once', async () => {
    expect((await steer('absent', ['gcd'])).body.code).toBe('unknown_run')
    await world.call('PUT', '/runs/picky', { tasks: ['gcd'] })
    expect((await steer('picky', ['gdc'])).body.code).toBe('unknown_task')
    expect((await steer('picky', [{ task: 'gcd', weight: 0 }])).body.code).toBe('invalid_request')
    expect((await world.call('PATCH', '/runs/picky', { mix: { tasks: ['gcd'] }, lifecycle: 'active' })).status).toBe(
      400,
    )
    expect((await steer('picky', ['lcm'], { 'if-match': '"other"' })).body.code).toBe('run_recreated')
    const key = { 'idempotency-key': 'once' }
    await steer('picky', ['lcm'], key)
    await steer('picky', ['chain_sum'])
    const again = await steer('picky', ['lcm'], key, node)
    expect(again.body.settings.tasks).toEqual(['chain_sum'])
    expect((await steer('picky', ['gcd'], key)).body.errors).toMatchObject([{ path: 'headers.idempotency-key' }])
    expect(await mixesOf('picky')).toHaveLength(3)
    const last = (await world.call('GET', '/runs/picky/mixes?limit=1')).body.mixes
    expect(last).toMatchObject([{ number: 2, tasks: ['chain_sum'] }])
  })

  it('never gives a position two items, and no caller an item of an earlier mix, on two nodes', async () => {
    const pools = [
      ['gcd', 'chain_sum'],
      ['lcm', 'leg_counting'],
    ]
    await world.call('PUT', '/runs/busy', { tasks: pools[0], item_lease_s: 600 })
    const handed = new Map<number, Item>()
    const taken: { items: Item[]; from: number; to: number }[] = []
    const changes = { started: 0, done: 0, areOver: false }
    const take = async (caller: World, k: number) => {
      for (let call = 0; !changes.areOver; call++) {
        const from = changes.done
        const body = k % 2 ? { run: 'busy', count: 4 } : { run: 'busy', step: 1000 * k + call, count: 3 }
        const { items = [] } = (await caller.call('POST', '/items', body)).body
        taken.push({ items, from, to: changes.started })
        for (const item of items) {
          expect(handed.has(positionOf(item))).toBe(false)
          handed.set(positionOf(item), item)
        }
      }
    }
    const change = async (caller: World, k: number) => {
      for (let n = 0; n < 6; n++) {
        const size = handed.size
        changes.started++
        const tasks = pools[n % 2]?.map((task) => ({ task, weight: 1 + n + k / 10 }))
        expect((await caller.call('PATCH', '/runs/busy', { mix: { tasks } })).status).toBe(200)
        changes.done++
        await until(
          () => Promise.resolve(handed.size),
          (now) => now >= size + 4,
        )
      }
    }
    const takers = [take(world, 0), take(node, 1), take(node, 2), take(world, 3)]
    await Promise.all([change(world, 1), change(node, 2)]).finally(() => {
      changes.areOver = true
    })
    await Promise.all(takers)
    const mixes: RunMix[] = await mixesOf('busy')
    expect(mixes.map(({ number }) => number)).toEqual(Array.from({ length: 13 }, (_, k) => k))
    for (const { items, from, to } of taken)
      for (const item of items) {
        const possible = mixes.slice(from, to + 1).filter(({ position }) => position <= positionOf(item))
        expect(possible.map(({ tasks }) => JSON.stringify(tasks)).join()).toContain(`"${item.task}"`)
      }
    const end = Math.max(...handed.keys()) + 1
    for (let position = 0; position < end; position += 256) {
      const again = await ask({ run: 'busy', position, count: Math.min(256, end - position) }, node)
      for (const item of again) expect(item).toEqual(handed.get(positionOf(item)) ?? item)
    }
  })
})

describe('the propensity of an item', () => {
  const TASKS = ['chain_sum', { task: 'gcd', weight: 2 }, { task: 'leg_counting', difficulty: [0.2, 0.7] }, 'composite']

  it.each<[string, SettingsChange]>([
    ['weights', {}],
    ['a random rung', { complexity_mode: 'random' }],
    ['the frontier and its exploration', { complexity_mode: 'frontier' }],
    ['learnability', { complexity_mode: 'frontier', sampling: 'learnability' }],
  ])('is how often its task and rung are drawn: %s', (_, settings) => {
    const { tasks, ladders, cards } = world.features.tasks
    const draws = new ItemDraws({ tasks, ladders, frontiers: new TaskFrontiers(ladders, cards) })
    const run = resolveRun({ name: 'r', explicitSettings: { ...settings, tasks: TASKS } } as unknown as ResolvedRun)
    const levels = { chain_sum: { difficulty: 0.5 }, gcd: { difficulty: 1 }, leg_counting: { difficulty: 0.7 } }
    const group = { variance: 0.2, score: 0.5, floor: 0, number: 1 }
    const evidence =
      run.settings.sampling === 'learnability'
        ? { gcd: [group, group], composite: [{ ...group, variance: 0 }] }
        : undefined
    const positions = Array.from({ length: 30_000 }, (__, position) => ({
      position,
      previous: undefined,
      triedTasks: [],
    }))
    const drawn = draws.draw(run, positions, { levels, evidence })
    const cells = Map.groupBy(
      drawn,
      ({ task, difficulty }) => `${task} ${difficulty === null ? '' : ladders.indexAt(task, difficulty)}`,
    )
    let total = 0
    for (const [cell, items] of cells) {
      const propensities = new Set(items.map(({ propensity }) => propensity))
      expect([cell, propensities.size]).toEqual([cell, 1])
      const [p = 0] = propensities
      total += p
      const deviations = (items.length - positions.length * p) / Math.sqrt(positions.length * p * (1 - p))
      expect(Math.abs(deviations), `${cell}: ${items.length} of ${positions.length * p}`).toBeLessThan(4)
    }
    expect(total).toBeCloseTo(1, 3)
  })

  it('is that of now when an item that explores is handed out: it is made again if the curriculum reaches its rung', async () => {
    const { redis, keys } = world.platform
    const positions = new PositionRepository(redis, keys)
    await world.stopWorkers() // a job would claim the position
    await node.call('PUT', '/runs/explores', { tasks: ['gcd'] })
    await node.call('POST', '/items', { run: 'explores', position: 5000 }, { prefer: 'wait=60' })
    const run = await world.features.runs.runs.require('explores')
    const { curriculum, openPositions } = createRunKeys(keys).forRun(run.name, run.epoch)
    const moveTo = (level: number) => redis.hset(curriculum, 'gcd', JSON.stringify({ level: `${level}`, scores: [] }))
    const scope = { kind: 'open', prefetchTarget: 1 } as const
    await redis.del(openPositions)
    await moveTo(0.9)
    const [{ position } = { position: -1 }] = await positions.claim(run, scope, 1)
    const store = (explored: 'chosen' | 'other', propensity: number) => {
      const placement = { low: 0, high: 1, from: 0.25, to: 0.35, explored }
      const made = { position, task: 'gcd', difficulty: 0.3, body: '{}', share: 0.5, propensity, placement }
      return positions.store(run, scope, made)
    }
    expect(await store('other', 0.01)).toBe('stored')
    await moveTo(0.8)
    expect(await positions.claim(run, scope, 1)).toEqual([])
    await moveTo(0.33)
    expect(await positions.claim(run, scope, 1)).toMatchObject([{ position, previous: { task: 'gcd', share: 0.5 } }])
    expect(await store('other', 0.01)).toBe('not_wanted')
    expect(await positions.claim(run, scope, 1)).toMatchObject([{ position, previous: { task: 'gcd', share: 0.5 } }])
    expect(await store('chosen', 0.48)).toBe('stored')
    const limits = { isFinal: true, prefetchTarget: 1, leaseMs: 60_000, maxAhead: null }
    expect((await positions.take(run, 1, limits))?.items).toMatchObject([{ difficulty: 0.3, propensity: 0.48 }])
  })

  it('stays that of the first draw when learnability moves, and follows the rung', () => {
    const { tasks, ladders, cards } = world.features.tasks
    const draws = new ItemDraws({ tasks, ladders, frontiers: new TaskFrontiers(ladders, cards) })
    const explicitSettings = { complexity_mode: 'frontier', sampling: 'learnability', tasks: TASKS }
    const run = resolveRun({ name: 'r', explicitSettings } as unknown as ResolvedRun)
    const positions = [{ position: 3, previous: { task: 'gcd', share: 0.9 }, triedTasks: [] }]
    const [item] = draws.draw(run, positions, { levels: {}, evidence: {} })
    expect(item?.task).toBe('gcd')
    expect(item?.propensity).toBeGreaterThan(0.9 * 0.97)
    expect(item?.propensity).toBeLessThan(0.9)
  })
})

it('a fork has other tasks from the next item on, and keeps the seed', async () => {
  const settings = { tasks: ['chain_sum', 'gcd', 'leg_counting'], sampling: 'learnability', buffer: false }
  await world.call('PUT', '/runs/mixed', settings)
  const fork = (run: string, body: object) => world.call('POST', `/runs/${run}/fork`, body)
  const asked = async (run: string) => (await ask({ run, position: 0, count: 4 })).map(({ id }) => id)
  const first = await asked('mixed')
  expect((await fork('mixed', { name: 'other-seed', settings: { seed: 8 } })).body.code).toBe('would_restart')
  expect((await fork('mixed', { name: 'nothing', settings: { tasks: ['nothing'] } })).body.code).toBe('unknown_task')
  expect((await fork('mixed', { name: 'no-step', step: 3 })).body.code).toBe('step_unavailable')
  expect((await fork('mixed', { name: 'gcd-only', settings: { tasks: ['gcd'] } })).status).toBe(201)
  expect(await asked('gcd-only')).toEqual(first)
  const next = await ask({ run: 'gcd-only', position: 4, count: 8 })
  expect(new Set(next.map(({ task }) => task))).toEqual(new Set(['gcd']))
})
