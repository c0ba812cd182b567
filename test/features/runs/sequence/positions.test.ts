/** Items by step and by position are the same for as long as the run exists, for every node, and never handed out twice. */

import type { Item } from '@reasoning-gym-server/contract/item'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RequestedPositions } from '../../../../src/features/runs/sequence/requested.ts'
import { openWorld, until, untilMadeAhead, type World } from '../../../world.ts'

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

const TASKS = ['chain_sum', 'gcd', 'leg_counting']
const SETTINGS = { tasks: TASKS, complexity_mode: 'curriculum', min_trained_tokens: 0 }
const put = (run: string, settings: object, query = '') => world.call('PUT', `/runs/${run}${query}`, settings)
const post = (body: object, from = world) => from.call('POST', '/items', body, { prefer: 'wait=20' })
const ask = async (body: object, from = world): Promise<Item[]> =>
  (
    await until(
      () => post(body, from),
      ({ status }) => status !== 503,
    )
  ).body.items
const ids = (items: Item[]) => items.map(({ id }) => id)
const positionsOf = (items: Item[]) => items.map(({ recipe }) => recipe.seed)

/** Posts a group of which all rollouts are right, and waits for it. */
async function solve(run: string, { id }: Item): Promise<void> {
  const { answer } = (await world.call('GET', `/items/${id}?reveal=true`)).body
  const rollouts = Array.from({ length: 2 }, () => ({ completion: `<answer>${answer}</answer>` }))
  const group = { run, item_id: id, rollouts, buffer: false }
  expect((await world.call('POST', '/rollouts', group, { prefer: 'wait=20' })).body.status).toBe('scored')
}

describe('a step', () => {
  it('has the same items 320 steps later, on every node, from a checkpoint and after it; its count is fixed', async () => {
    await put('long', SETTINGS)
    const first = await ask({ run: 'long', step: 0, count: 4 })
    for (const item of first) await solve('long', item) // the curriculum moves on
    const checkpoint = (await world.call('GET', '/runs/long/checkpoint')).body
    const { redis, keys } = world.platform
    const requested = new RequestedPositions(redis, keys)
    const run = await world.features.runs.runs.require('long')
    for (let step = 1; step <= 320; step++) await requested.requestStep(run, step, { count: 1, prefetchTarget: 0 })
    for (const from of [world, node]) {
      expect(await ask({ run: 'long', step: 0, count: 4 }, from)).toEqual(first)
      expect(await ask({ run: 'long', step: 0 }, from)).toEqual(first)
    }
    expect(await post({ run: 'long', step: 0, count: 3 })).toMatchObject({
      status: 409,
      body: { code: 'step_conflict', errors: [{ path: 'count', message: 'must be 4' }] },
    })
    const third = await ask({ run: 'long', step: 3 })
    const later = (await world.call('GET', '/runs/long/checkpoint')).body
    for (const [document, last] of [
      [later, third],
      [checkpoint, undefined],
    ]) {
      expect((await world.call('PUT', '/runs/long/checkpoint', document)).status).toBe(200)
      expect(await ask({ run: 'long', step: 0, count: 4 }, node)).toEqual(first)
      if (last) expect(await ask({ run: 'long', step: 3 }, node)).toEqual(last)
    }
  })
})

describe('a position', () => {
  it('has one item for every node, made now or given out before, by the queue or to a step', async () => {
    await put('mixed', { ...SETTINGS, complexity_mode: 'none' })
    const [a, b, c] = await Promise.all([
      ask({ run: 'mixed', position: 3, count: 6 }),
      ask({ run: 'mixed', position: 0, count: 6 }, node),
      ask({ run: 'mixed', position: 5, count: 1 }, node),
    ])
    const start = positionsOf(b)[0] ?? 0
    expect(positionsOf(b).concat(positionsOf(a).slice(3))).toEqual(Array.from({ length: 9 }, (_, k) => start + k))
    expect([ids(b).slice(3), ids(c)]).toEqual([ids(a).slice(0, 3), [ids(a)[2]]])
    const far = await ask({ run: 'mixed', position: 20, count: 2 })
    const step = await ask({ run: 'mixed', step: 7, count: 4 })
    const queued: Item[] = []
    while (queued.length < 10) {
      await untilMadeAhead(world, 'mixed', 10 - queued.length)
      queued.push(...((await post({ run: 'mixed', count: 10 - queued.length })).body.items ?? []))
    }
    const all = [...b, ...a.slice(3), ...far, ...step, ...queued]
    expect(positionsOf(all).toSorted((x, y) => x - y)).toEqual(Array.from({ length: 25 }, (_, k) => start + k))
    const again = await ask({ run: 'mixed', position: 0, count: 25 }, node)
    expect(ids(again).toSorted()).toEqual(ids(all).toSorted())
    const halves = [0, 1].map((rank) => ask({ run: 'mixed', position: 0, count: 25, rank, ranks: 2 }, node))
    expect((await Promise.all(halves)).map(ids)).toEqual(
      [0, 1].map((rank) => ids(again).filter((_, k) => k % 2 === rank)),
    )
  })

  it('that is next is new for each call, on every node, and the others pass it by', async () => {
    await put('next', { ...SETTINGS, complexity_mode: 'none' })
    const [first] = await ask({ run: 'next', position: 0 })
    const calls = [world, node, world, node].map((from) => ask({ run: 'next', position: 'next', count: 2 }, from))
    const taken = (await Promise.all(calls)).flat()
    const queued: Item[] = []
    while (queued.length < 2) queued.push(...((await post({ run: 'next', count: 1 })).body.items ?? []))
    const [later] = await ask({ run: 'next', position: 'next' })
    expect(new Set(ids([...taken, ...queued, ...[first, later].flatMap((item) => item ?? [])])).size).toBe(12)
  })

  it('that the queue has leased is done when a group comes from a caller that asked for it by its number', async () => {
    await put('leased', SETTINGS)
    while (!(await post({ run: 'leased', count: 2 })).body.items);
    const listLeases = async () =>
      (await world.call('GET', '/runs/leased/checkpoint')).body.sequence.leases.map(
        ({ position }: { position: number }) => position,
      )
    const [first = 0, ...others] = await listLeases()
    for (const item of await ask({ run: 'leased', position: first }, node)) await solve('leased', item)
    expect(await listLeases()).toEqual(others)
  })

  it('keeps its item while the curriculum moves and settings change; new ones are of the new level', async () => {
    await put('moves', { ...SETTINGS, tasks: ['chain_sum'] })
    const first = await ask({ run: 'moves', position: 0, count: 8 })
    for (const item of first) await solve('moves', item)
    const next = await ask({ run: 'moves', position: 100, count: 1 })
    expect(next[0]?.difficulty ?? 0).toBeGreaterThan(first[0]?.difficulty ?? 1)
    const countPoints = async () => (await world.call('GET', '/runs/moves/history')).body.points.length
    const points = await countPoints()
    for (const item of next) await solve('moves', item) // it counts for the curriculum, though the queue is not there yet
    expect(await countPoints()).toBe(points + 1)
    await put('moves', { complexity_mode: 'fixed', difficulty: 1 })
    expect(await ask({ run: 'moves', position: 0, count: 8 }, node)).toEqual(first)
    expect(await ask({ run: 'moves', position: 100 }, node)).toEqual(next)
    expect((await ask({ run: 'moves', position: 8 }))[0]?.difficulty).toBe(1)
    await put('moves', { seed: 5 }, '?restart=true')
    expect(ids(await ask({ run: 'moves', position: 0, count: 8 }))).not.toEqual(ids(first))
  })

  it('has the item that a restored checkpoint implies, here and elsewhere', async () => {
    await put('restored', { ...SETTINGS, tasks: ['chain_sum'] })
    const early = await ask({ run: 'restored', position: 2, count: 3 })
    const checkpoint = (await world.call('GET', '/runs/restored/checkpoint')).body
    for (const item of early) await solve('restored', item)
    const late = await ask({ run: 'restored', position: 0, count: 6 })
    expect(ids(late).slice(2, 5)).toEqual(ids(early))
    const moved = (await world.call('GET', '/runs/restored/checkpoint')).body
    for (const [run, document] of [
      ['restored', checkpoint],
      ['elsewhere', checkpoint],
      ['restored', moved],
    ]) {
      expect((await world.call('PUT', `/runs/${run}/checkpoint`, document)).status).toBe(200)
      const items = await ask({ run, position: 0, count: 6 }, node)
      expect(ids(items).slice(2, 5)).toEqual(ids(early))
      const level = document === moved ? late[0]?.difficulty : early[0]?.difficulty
      expect(items[0]?.difficulty).toBe(level)
    }
  })

  it('takes another task where its own has no item; where no task has one, it says so for ever', {
    timeout: 90_000,
  }, async () => {
    const idle = await openWorld({}) // without a worker, which would try all open positions
    try {
      const config = { min_grid_size: 5, max_grid_size: 5, min_dist: 20, max_dist: 20 }
      await idle.call('PUT', '/runs/holes', { tasks: [{ task: 'maze', config, weight: 9 }, 'gcd'] })
      const items = await ask({ run: 'holes', position: 0 }, idle)
      expect(items.map(({ task }) => task)).toEqual(['gcd'])
      expect(await ask({ run: 'holes', position: 0 }, idle)).toEqual(items)
      expect((await idle.call('GET', '/runs/holes')).body.progress.skipped_positions).toBe(0)

      await idle.call('PUT', '/runs/none', { tasks: [{ task: 'maze', config }] })
      const refuse = () =>
        until(
          () => post({ run: 'none', position: 4 }, idle),
          ({ status }) => status !== 503,
        )
      const refused = await refuse()
      expect(refused).toMatchObject({ status: 422, body: { code: 'make_failed' } })
      expect(refused.body.detail).toMatch(/The position 4 of the run none has no item.*RuntimeError/)
      expect((await refuse()).body.detail).toBe(refused.body.detail)
      const checkpoint = (await idle.call('GET', '/runs/none/checkpoint')).body
      expect((await idle.call('PUT', '/runs/none/checkpoint', checkpoint)).status).toBe(200)
      expect((await post({ run: 'none', position: 4 }, idle)).status).toBe(422)
    } finally {
      await idle.close()
    }
  })

  it('is refused far ahead, and beside what it excludes', async () => {
    await put('far', SETTINGS)
    expect(await post({ run: 'far', position: 2 ** 21 })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ path: 'position' }] },
    })
    for (const more of [{ step: 1 }, { task: 'gcd' }, { rank: 1 }, { count: 1025 }])
      expect(await post({ run: 'far', position: 0, ...more })).toMatchObject({ status: 400 })
    expect(await post({ run: 'far', position: -1 })).toMatchObject({ status: 400 })
  })
})
