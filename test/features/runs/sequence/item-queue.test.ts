import type { Item } from '@reasoning-gym-server/contract/item'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createRunKeys } from '../../../../src/features/runs/records.ts'
import { PositionRepository } from '../../../../src/features/runs/sequence/positions.ts'
import { type Answer, openWorld, takeInOrder, takeItems, until, type World } from '../../../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
})
afterAll(() => world.close())
afterEach(() => vi.restoreAllMocks())

const ask = async (body: object, from = world): Promise<Item[]> =>
  (await from.call('POST', '/items', body, { prefer: 'wait=60' })).body.items ?? []

const items = ({ count = 1, run }: { count?: number; run: string }, from = world) => takeItems(from, run, count)
const ids = (list: Item[]) => list.map(({ id }) => id)
const keysOf = async (run: string) =>
  createRunKeys(world.platform.keys).forRun(run, (await world.features.runs.runs.require(run)).epoch)
const prepared = async (run: string) => world.platform.redis.hlen((await keysOf(run)).itemBodies)
const QUICK = ['chain_sum', 'leg_counting', 'gcd']

describe('items are made ahead of demand', () => {
  it('by workers, up to a bound for each run', async () => {
    await world.call('PUT', '/runs/ahead', {})
    await items({ run: 'ahead', count: 8 })
    await world.call('PUT', '/runs/ahead?restart=true', { tasks: QUICK })
    expect(
      await until(
        () => prepared('ahead'),
        (n) => n >= 64,
      ),
    ).toBe(64)
    expect(await items({ run: 'ahead', count: 10 })).toHaveLength(10)
  })

  it('and in their order: what one caller is handed does not depend on who made it', async () => {
    await world.call('PUT', '/runs/order', { tasks: QUICK })
    // Made once before: on a busy machine, an item that takes over 1.5 s would be passed over until later.
    for (let step = 0; step < 2; step++)
      await world.call('POST', '/items', { run: 'order', step, count: 30 }, { prefer: 'wait=60' })
    await world.call('DELETE', '/runs/order')
    await world.call('PUT', '/runs/order', { tasks: QUICK })
    await until(
      () => prepared('order'),
      (n) => n >= 16,
    )
    const first = [...(await items({ run: 'order', count: 30 })), ...(await items({ run: 'order', count: 30 }))]
    await world.call('DELETE', '/runs/order')
    await world.call('PUT', '/runs/order', { tasks: QUICK })
    const again: Item[] = []
    while (again.length < 60) again.push(...(await takeInOrder(world, 'order', 3)))
    expect(ids(again)).toEqual(ids(first))
  })

  it('each position once, none missed, for several callers on two nodes', async () => {
    const node = await openWorld({ prefix: world.prefix })
    try {
      await world.call('PUT', '/runs/many', { tasks: QUICK })
      // Made once before: on a busy machine, an item that takes over 1.5 s would be passed over until later.
      for (let step = 0; step < 2; step++)
        await world.call('POST', '/items', { run: 'many', step, count: 60 }, { prefer: 'wait=60' })
      await world.call('PUT', '/runs/many?restart=true', { tasks: QUICK })
      const calls = Array.from({ length: 12 }, (_, k) => items({ run: 'many', count: 10 }, k % 2 ? node : world))
      const seeds = (await Promise.all(calls)).flat().map(({ recipe }) => recipe.seed)
      const least = Math.min(...seeds)
      // On a busy machine, an item that takes over 1.5 s is passed over, and comes in the next call.
      while (seeds.length < 120 || Math.max(...seeds) - least >= seeds.length)
        seeds.push(...(await items({ run: 'many' })).map(({ recipe }) => recipe.seed))
      expect(seeds.toSorted((a, b) => a - b)).toEqual(seeds.map((_, k) => least + k))
    } finally {
      await node.close()
    }
  })

  it('a call that waits for slow items reads Redis a few times a second, not hundreds', async () => {
    const node = await openWorld()
    vi.spyOn(node.engine, 'generateEach').mockImplementation((_, _config, places) =>
      places.map(() => new Promise(() => {})),
    )
    const take = vi.spyOn(PositionRepository.prototype, 'take')
    try {
      await node.call('PUT', '/runs/stuck', { tasks: QUICK })
      for (let k = 0; k < 2; k++)
        expect((await node.call('POST', '/items', { run: 'stuck', count: 2 })).body.code).toBe('items_not_ready')
      expect(take.mock.calls.length).toBeLessThan(20)
    } finally {
      vi.restoreAllMocks()
      await node.close()
    }
  })

  it('under the settings of now, also from a node that knows the run as it was', async () => {
    const node = await openWorld({ prefix: world.prefix })
    try {
      const change = (task: string) => world.call('PUT', '/runs/known?restart=true', { tasks: [task] })
      const takeTask = async () => (await items({ run: 'known' }, node))[0]?.task
      await change('gcd')
      expect(await takeTask()).toBe('gcd')
      await change('chain_sum')
      expect(await takeTask()).toBe('chain_sum')
      await world.call('DELETE', '/runs/known')
      await change('leg_counting')
      expect(await takeTask()).toBe('leg_counting')
    } finally {
      await node.close()
    }
  })

  it('a change of difficulty discards what was prepared, a change of the prompt does not', async () => {
    await world.call('PUT', '/runs/turned', { tasks: ['chain_sum'], complexity_mode: 'fixed', difficulty: 0 })
    await until(
      () => prepared('turned'),
      (n) => n >= 16,
    )
    await world.call('PUT', '/runs/turned', { difficulty: 1 })
    const [hard] = await items({ run: 'turned' })
    expect(hard?.difficulty).toBe(1)
    await until(
      () => prepared('turned'),
      (n) => n >= 16,
    )
    const before = await world.platform.redis.hgetall((await keysOf('turned')).itemBodies)
    await world.call('PUT', '/runs/turned', { system_prompt: null })
    expect(await world.platform.redis.hgetall((await keysOf('turned')).itemBodies)).toMatchObject(before)
    expect((await items({ run: 'turned' }))[0]?.messages).toHaveLength(1)
  })

  it('a move of the curriculum makes only that task’s items anew, and relabels what stays on its rung', async () => {
    await world.call('PUT', '/runs/moved', { tasks: ['chain_sum', 'gcd'], complexity_mode: 'curriculum' })
    await items({ run: 'moved', count: 2 })
    await until(
      () => prepared('moved'),
      (n) => n >= 64,
    )
    const { itemBodies: bodies, positionStates: heads, curriculum, openPositions: open } = await keysOf('moved')
    const gcd = async () =>
      Object.entries(await world.platform.redis.hgetall(bodies)).filter(([, body]) => body.includes('"task":"gcd"'))
    const before = await gcd()
    await world.platform.redis.hset(curriculum, 'chain_sum', JSON.stringify({ level: '0.9', scores: [] }))
    const next = await items({ run: 'moved', count: 40 })
    for (const item of next) expect(item.difficulty).toBe(item.task === 'gcd' ? 0.3 : 0.9)
    const questions = new Map(before.map(([, body]) => [JSON.parse(body).recipe.seed, JSON.parse(body).question]))
    // on a busy machine, some come from beyond those that were made ahead
    const known = next.filter(({ task, recipe }) => task === 'gcd' && questions.has(recipe.seed))
    expect(known).not.toEqual([])
    for (const item of known) expect(questions.get(item.recipe.seed)).toBe(item.question)
    expect(await world.platform.redis.zcard(open)).toBe(await world.platform.redis.hlen(heads))
  })
})

describe('what does not come back', () => {
  it('is handed out again when its lease has run out, and says so', async () => {
    await world.call('PUT', '/runs/lease', { tasks: QUICK, item_lease_s: 600 })
    const first = await items({ run: 'lease', count: 2 })
    const { leaseExpiries } = await keysOf('lease')
    const { redis } = world.platform
    for (const position of await redis.zrange(leaseExpiries, '0', '-1')) await redis.zadd(leaseExpiries, 1, position)
    const again = await until(
      () => ask({ run: 'lease', count: 3 }),
      (list) => list.some((item) => item.again),
    )
    expect(ids(first)).toEqual(expect.arrayContaining(ids(again.filter((item) => item.again)).slice(0, 2)))
  })

  it('a group frees its item’s lease; over max_groups_ahead there are fewer items, then none', async () => {
    await world.call('PUT', '/runs/bound', { tasks: QUICK, max_groups_ahead: 3 })
    const first = await items({ run: 'bound', count: 2 })
    const askFewer = () => world.call('POST', '/items', { run: 'bound', count: 2 }, { 'idempotency-key': 'fewer' })
    const fewer = await until(askFewer, ({ status }) => status === 200)
    expect(fewer.body.items).toHaveLength(1)
    const detail = '1 of 2 items: max_groups_ahead of the run is reached. Train on its groups, then request items.'
    expect(fewer.body).toMatchObject({ incomplete: true, detail })
    expect((await askFewer()).body).toEqual(fewer.body)
    const none = await world.call('POST', '/items', { run: 'bound', count: 2 })
    expect(none).toMatchObject({ status: 200, body: { items: [], waiting_for: 'trainer' } })
    expect(Number(none.headers['retry-after'])).toBeGreaterThan(0)
    const rollouts = [{ completion: 'x' }, { completion: 'y' }] // no signal: not buffered
    const posted = { run: 'bound', item_id: first[0]?.id, rollouts }
    await world.call('POST', '/rollouts', posted, { prefer: 'wait=20' })
    const more = await until(
      () => ask({ run: 'bound', count: 2 }),
      (list) => list.length > 0,
    )
    expect(more).toHaveLength(1)
  })

  it('nor is there ever one more than max_groups_ahead, while groups are scored and delivered', async () => {
    const run = 'moving'
    const settings = { tasks: QUICK, max_groups_ahead: 4, min_trained_tokens: 0, drop_equal_scores: false }
    await world.call('PUT', `/runs/${run}`, settings)
    const [enough, rollouts] = [60, [{ completion: 'x' }]]
    let [handedOut, delivered, most] = [0, 0, 0]
    const generate = async () => {
      while (handedOut < enough) {
        const taken = await ask({ run, count: 2 })
        handedOut += taken.length
        if (taken.length === 0) await new Promise((resolve) => setTimeout(resolve, 20)) // until the trainer takes a batch
        most = Math.max(most, handedOut - delivered)
        await Promise.all(taken.map(({ id }) => world.call('POST', '/rollouts', { run, item_id: id, rollouts })))
      }
    }
    const train = async () => {
      for (let step = 0; handedOut < enough; ) {
        const ask = { step, min_rollouts: 1 }
        const { status, body } = await world.call('POST', `/runs/${run}/batches`, ask, { prefer: 'wait=1' })
        if (status !== 200) continue
        delivered += body.totals.groups // more than are acknowledged by now, so that the bound is not overtaken here
        await world.call('POST', `/runs/${run}/batches/${step++}/ack`, {})
      }
    }
    await Promise.all([generate(), generate(), generate(), generate(), train()])
    expect(most).toBeLessThanOrEqual(settings.max_groups_ahead)
  })
})

describe('the items of a step', () => {
  it('are the same for whoever asks again, from any node, whole or by rank', async () => {
    const node = await openWorld({ prefix: world.prefix })
    try {
      await world.call('PUT', '/runs/steps', { tasks: QUICK })
      const both = await Promise.all([
        ask({ run: 'steps', step: 41, count: 10 }),
        ask({ run: 'steps', step: 41, count: 10 }, node),
      ])
      expect(ids(both[0])).toEqual(ids(both[1]))
      const shares = await Promise.all(
        [0, 1, 2].map((rank) => ask({ run: 'steps', step: 41, count: 10, rank, ranks: 3 }, node)),
      )
      expect(ids(shares.flat()).toSorted()).toEqual(ids(both[0]).toSorted())
      const other = await ask({ run: 'steps', step: 42, count: 10 })
      const plain = await items({ run: 'steps', count: 10 })
      expect(new Set(ids([...both[0], ...other, ...plain])).size).toBe(30)
      expect(ids(await ask({ run: 'steps', step: 41 }))).toEqual(ids(both[0]))
      expect(await world.call('POST', '/items', { run: 'steps', step: 41, count: 3 })).toMatchObject({
        status: 409,
        body: { code: 'step_conflict', errors: [{ path: 'count', message: 'must be 10' }] },
      })
    } finally {
      await node.close()
    }
  })

  it('who waits for them while the run begins anew is given those of the new settings', async () => {
    const generateEach = world.engine.generateEach.bind(world.engine)
    const restarted = Promise.withResolvers<void>()
    vi.spyOn(world.engine, 'generateEach').mockImplementation((...of) =>
      generateEach(...of).map(async (item) => {
        if (of[0] === 'futoshiki') await restarted.promise
        return item
      }),
    )
    await world.call('PUT', '/runs/anew', { tasks: [{ task: 'futoshiki', difficulty: 1 }] })
    const waiting = ask({ run: 'anew', step: 3, count: 24 })
    const { stepPositions } = await keysOf('anew')
    await until(
      () => world.platform.redis.hlen(stepPositions),
      (n) => n === 1,
    )
    await world.call('PUT', '/runs/anew?restart=true', { tasks: QUICK, seed: 7 })
    restarted.resolve()
    const [first, again] = [await waiting, await ask({ run: 'anew', step: 3, count: 24 })]
    expect(first).toHaveLength(24)
    expect(first.filter(({ task }) => !QUICK.includes(task))).toEqual([])
    expect(ids(again)).toEqual(ids(first))
  })

  it('rank and ranks come together', async () => {
    expect(await world.call('POST', '/items', { run: 'steps', step: 1, rank: 1 })).toMatchObject({ status: 400 })
    expect(await world.call('POST', '/items', { run: 'steps', step: 1, rank: 2, ranks: 2 })).toMatchObject({
      status: 400,
    })
  })
})

describe('a position whose item cannot be made', () => {
  it('is skipped after two tries, counted and listed; the others go on', { timeout: 90_000 }, async () => {
    const slow = await openWorld({ MAKE_DEADLINE_MS: 60 })
    try {
      await slow.call('PUT', '/runs/slow', { tasks: ['knight_swap', 'gcd'], complexity_mode: 'fixed', difficulty: 1 })
      const seen: string[] = []
      const findSlow = ({ skipped }: Answer['body']) =>
        skipped.find(({ task }: { task: string }) => task === 'knight_swap')
      const { body } = await until(
        async () => {
          for (const { task } of await ask({ run: 'slow', count: 20 }, slow)) seen.push(task)
          return slow.call('GET', '/runs/slow')
        },
        ({ body }) => findSlow(body) && seen.includes('gcd'), // a busy machine may skip a gcd, too
        60_000, // each failed try restarts a Python process
      )
      expect(findSlow(body)).toMatchObject({ difficulty: 1, detail: expect.stringContaining('60 ms') })
      expect(body.progress.skipped_positions).toBeGreaterThan(0)
    } finally {
      await slow.close()
    }
  })
})
