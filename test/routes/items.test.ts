import { randomUUID } from 'node:crypto'
import { contentHash } from '@reasoning-gym-server/codec/content-hash'
import { Item, ItemsRequest } from '@reasoning-gym-server/contract/item'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { positionOfSeed } from '../../src/features/runs/sequence/sequence.ts'
import { IDEMPOTENCY_LIMITS, IdempotencyRepository } from '../../src/platform/redis/idempotency.ts'
import { type Answer, keysOf, openWorld, takeItems, until, untilMadeAhead, type World } from '../world.ts'

/** The library finds no maze for it in a thousand tries. */
const BAD_MAZE_SEED = 700_229

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const post = async (body: unknown) => (await world.call('POST', '/items', body)).body.items

it('an item carries its recipe, its prompt, and neither answer nor metadata', async () => {
  const [item] = await post({ task: 'leg_counting', seed: 42 })
  expect(Item.parse(item)).toEqual(item)
  expect(item).toMatchObject({
    task: 'leg_counting',
    category: 'arithmetic',
    difficulty: null,
    recipe: { task: 'leg_counting', config: {}, seed: 42, index: 0, engine: '0.1.25' },
  })
  expect(item.messages.map(({ role }: { role: string }) => role)).toEqual(['system', 'user'])
  expect(item.messages[1].content).toBe(item.question)
})

it('only the run default is created by a call that names it', async () => {
  await world.call('PUT', '/runs/my-run', {})
  const [{ id }] = await post({ task: 'leg_counting', seed: 42 })
  const group = { run: 'my-rum', item_id: id, rollouts: [{ completion: 'x' }] }
  for (const [url, body] of [
    ['/items', { run: 'my-rum' }],
    ['/rollouts', group],
  ] as const) {
    const detail = 'There is no run named "my-rum". Did you mean "my-run"? PUT /runs/{run} creates it.'
    expect(await world.call('POST', url, body)).toMatchObject({
      status: 404,
      body: { code: 'unknown_run', detail },
    })
  }
  expect((await world.call('GET', '/runs/my-rum')).status).toBe(404)
  for (const [url, body] of [
    ['/items', {}],
    ['/rollouts', { ...group, run: 'default' }],
  ] as const) {
    const isReady = ({ status }: Answer) => status !== 503
    expect((await until(() => world.call('POST', url, body), isReady)).status).toBeLessThan(300)
  }
})

it('equal recipes make equal items: defaults spelt out, numbers by value, however they are asked for', async () => {
  const [plain] = await post({ task: 'leg_counting', seed: 42, index: 3 })
  const [spelt] = await post({
    task: 'leg_counting',
    seed: 42,
    index: 3,
    config: { min_animals: 3, max_animals: 10.0 },
  })
  const [returned] = await post(plain.recipe)
  const several = await post({ task: 'leg_counting', seed: 42, index: 2, count: 3 })
  const seeds = await post({ task: 'leg_counting', seeds: [41, 42], index: 3 })
  expect([spelt, returned, several[1], seeds[1]]).toEqual([plain, plain, plain, plain])
  const again = await world.call('GET', `/items/${plain.id}`)
  expect(again.body).toEqual(plain)
})

it('a seed at which the library raises is left out and named; alone it is no fault of the config', async () => {
  const { status, body } = await world.call('POST', '/items', { task: 'maze', seeds: [1, BAD_MAZE_SEED, 2] })
  expect(status).toBe(200)
  expect(body.items.map(({ recipe }: Item) => recipe.seed)).toEqual([1, 2])
  expect(body.failed).toEqual([{ seed: BAD_MAZE_SEED, index: 0, detail: expect.stringContaining('RuntimeError') }])
  const alone = await world.call('POST', '/items', { task: 'maze', seed: BAD_MAZE_SEED })
  expect(alone).toMatchObject({ status: 422, body: { code: 'make_failed', errors: [{ path: 'seed' }] } })
  const others = await world.call('POST', '/items', { task: 'maze', seed: BAD_MAZE_SEED - 1, count: 3 })
  expect(others.body.items.map(({ recipe }: Item) => recipe.index)).toEqual([0, 2])
  expect(others.body.failed).toMatchObject([{ index: 1 }])
})

it('an item at a difficulty carries its label and its full config', async () => {
  const [easy] = await post({ task: 'chain_sum', difficulty: 0 })
  const [hard] = await post({ task: 'chain_sum', difficulty: 1 })
  expect(easy).toMatchObject({ difficulty: 0, recipe: { difficulty: 0 } })
  expect(hard.recipe.config).not.toEqual(easy.recipe.config)
  expect((await post(hard.recipe))[0]).toEqual(hard)
})

it('only who asks to reveal sees the answer', async () => {
  const [{ id }] = await post({ task: 'leg_counting', seed: 42 })
  const { body } = await world.call('GET', `/items/${id}?reveal=true`)
  expect(body).toMatchObject({ answer: expect.stringMatching(/^\d+$/), metadata: { source_dataset: 'leg_counting' } })
})

it('a run shows its own prompt', async () => {
  await world.call('PUT', '/runs/bare', { system_prompt: null, tasks: ['leg_counting'] })
  await world.call('PUT', '/runs/user', {
    system_prompt: 'Think.',
    system_prompt_role: 'user',
    tasks: ['leg_counting'],
  })
  const [bare] = await takeItems(world, 'bare', 1)
  const [user] = await takeItems(world, 'user', 1)
  expect(bare?.messages).toEqual([{ role: 'user', content: bare?.question }])
  expect(user?.messages).toEqual([{ role: 'user', content: `Think.\n\n${user?.question}` }])
  expect((await world.call('GET', `/items/${bare?.id}?run=user`)).body.messages[0].content).toContain('Think.')
})

it('a run’s items come from the training seeds, each position once, equal for equal settings', async () => {
  await world.call('PUT', '/runs/a', { tasks: ['chain_sum', 'leg_counting', 'gcd'] })
  const isInOrder = (items: Item[]) =>
    items.length === 40 && items.every(({ recipe }, k) => positionOfSeed(42, recipe.seed) === k)
  /** Begins the run anew, once more where an item took so long to make that later ones came first. */
  const takeAnew = (...counts: number[]) =>
    until(async () => {
      await world.call('PUT', '/runs/a?restart=true', { seed: 7 })
      await world.call('PUT', '/runs/a?restart=true', { seed: 42 })
      const items: Item[] = []
      for (const count of counts) items.push(...((await post({ run: 'a', count })) ?? []))
      return items
    }, isInOrder)
  const first = await takeAnew(20, 20)
  for (const { recipe } of first) expect(recipe.seed).toBeGreaterThanOrEqual(2 ** 31)
  expect(new Set(first.slice(0, 20).map(({ task }) => task)).size).toBe(3)
  expect((await takeAnew(40)).map(({ id }) => id)).toEqual(first.map(({ id }) => id))
})

it('lists all tasks, by category or by text, with the library’s schema of each config', async () => {
  const { body } = await world.call('GET', '/tasks')
  expect(body).toMatchObject({
    engine: { library: 'reasoning-gym', version: '0.1.25' },
    source: 'registry',
    total: 105,
  })
  expect((await world.call('GET', '/tasks?category=graphs')).body.total).toBe(6)
  expect((await world.call('GET', '/tasks?q=sudoku')).body.tasks.map(({ name }: { name: string }) => name)).toEqual([
    'mini_sudoku',
    'sudoku',
  ])
  const { body: task } = await world.call('GET', '/tasks/coin_flip')
  expect(task.config_schema.properties.min_trials).toEqual({ type: 'integer', exclusiveMinimum: 0, default: 3 })
  expect(task.example.task).toBe('coin_flip')
  expect((await world.call('GET', '/tasks/spell_backward')).body.config_schema.properties).not.toHaveProperty(
    'data_file',
  )
})

it('an entry waits in Redis beside its item, for a while, and another node scores with it', async () => {
  const [{ id }] = await post({ task: 'leg_counting', seed: 4711 })
  const { redis } = world.platform
  const keys = await keysOf(redis, `{${world.prefix}:item-entries:*`)
  const [key = ''] = keys.filter((name) => name.endsWith(id))
  expect(await redis.pttl(key)).toBeGreaterThan(0)
  await redis.set(key, ((await redis.get(key)) ?? '').replace(/"answer":"\d+"/, '"answer":"777777"'), 'KEEPTTL')
  const node = await openWorld({ prefix: world.prefix })
  try {
    const score = (answer: string) =>
      node.call('POST', '/score', { rollouts: [{ item_id: id, answer }], detail: 'rewards' })
    expect((await score('777777')).body.rewards).toEqual([1])
    await redis.del(key)
  } finally {
    await node.close()
  }
  const fresh = await openWorld({ prefix: world.prefix }) // gone: made again from its recipe
  try {
    const { body } = await fresh.call('GET', `/items/${id}?reveal=true`)
    const scored = await fresh.call('POST', '/score', {
      rollouts: [{ item_id: id, answer: body.answer }],
      detail: 'rewards',
    })
    expect(scored.body.rewards).toEqual([1])
  } finally {
    await fresh.close()
  }
})

it('an Idempotency-Key gives the same items again, and no position twice', async () => {
  await world.call('PUT', '/runs/once', { tasks: ['chain_sum'] })
  const ask = (key: string, count = 3) =>
    until(
      () => world.call('POST', '/items', { run: 'once', count }, { 'idempotency-key': key }),
      ({ status }) => status !== 503,
    )
  const [first, again] = [await ask('a'), await ask('a')]
  expect(again.body).toEqual(first.body)
  expect(await ask('a', 4)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  const other = await ask('b')
  const ids = [...first.body.items, ...other.body.items].map(({ id }: Item) => id)
  expect(new Set(ids).size).toBe(ids.length)
})

describe('a call that is repeated under its Idempotency-Key', () => {
  const ask = (body: object, key: string, from = world) =>
    from.call('POST', '/items', body, { 'idempotency-key': key, prefer: 'wait=30' })
  const stored = () => keysOf(world.platform.redis, `{${world.prefix}:idempotency}*`)
  const keptIn = (from: World, pattern: string) => keysOf(from.platform.redis, `{${from.prefix}:${pattern}`)
  /** Forgets what has been made: the next call for an item makes it. */
  const emptyCaches = async (from: World) => {
    for (const key of await keptIn(from, 'item-entries:*')) await from.platform.redis.unlink(key)
  }

  let node: World
  beforeAll(async () => {
    node = await openWorld({ prefix: world.prefix })
  })
  afterAll(() => node.close())

  it('keeps a small part of its answer in Redis', async () => {
    const { redis } = world.platform
    const memory = async () => {
      const sizes = (await stored()).map((key) => redis.call('MEMORY', 'USAGE', key, 'SAMPLES', '0') as Promise<number>)
      return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0)
    }
    const before = await memory()
    let answered = 0
    for (let k = 0; k < 6; k++) {
      const { status, body } = await ask({ task: 'leg_counting', seed: 9, index: 0, count: 1024 }, `growth-${k}`)
      expect(status).toBe(200)
      answered += JSON.stringify(body).length
    }
    expect(answered).toBeGreaterThan(6_000_000)
    expect((await memory()) - before).toBeLessThan(answered / 30)
  })

  it.each([
    ['the next items of a run', { run: 'repeats', count: 4 }],
    ['the items of a step', { run: 'repeats', step: 3, count: 4, rank: 1, ranks: 2 }],
    ['the items of a recipe', { task: 'gcd', difficulty: 0.5, seed: 3, count: 3 }],
    ['the items of several seeds', { task: 'gcd', seeds: [5, 4, 5] }],
    ['the items of several seeds but one', { task: 'maze', seeds: [5, BAD_MAZE_SEED, 4] }],
  ])('is answered as before once nothing else is kept: %s', async (_form, body) => {
    await world.call('PUT', '/runs/repeats', {
      tasks: ['gcd'],
      system_prompt: 'Before.\n\nTwice.',
      system_prompt_role: 'user',
    })
    let key = ''
    const first = await until(
      () => {
        key = randomUUID()
        return ask(body, key)
      },
      (answer) => answer.body.items?.length > 1,
    )
    await world.call('PUT', '/runs/repeats?restart=true', { tasks: ['chain_sum'], system_prompt: null })
    await world.call('DELETE', '/runs/repeats')
    await emptyCaches(world)
    for (const from of [node, world]) {
      const again = await ask(body, key, from)
      expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body))
    }
    expect(await ask({ run: 'other' }, key)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  })

  it('says again that an item is handed out a second time, and that it waits for the trainer', async () => {
    await world.call('PUT', '/runs/leases', { tasks: ['gcd'], max_groups_ahead: 2, item_lease_s: 1 })
    const [taken] = await takeItems(world, 'leases', 1)
    await until(
      () => ask({ run: 'leases', count: 3 }, randomUUID()),
      ({ body: { items, waiting_for } }) =>
        waiting_for === 'trainer' && items.some(({ id, again }: Item) => id === taken?.id && again),
    )
    const key = 'twice'
    const first = await ask({ run: 'leases', count: 3 }, key)
    expect(await ask({ run: 'leases', count: 3 }, key)).toMatchObject({ status: 200, body: first.body })
  })

  it('finds what was handed to it when the process ended before it answered', async () => {
    const { run } = await world.features.runs.runs.update('broken-off', {}, { restart: false })
    const [body, key] = [{ run: 'broken-off', count: 5 }, 'broken-off']
    const callerId = '127.0.0.1'
    const calls = new IdempotencyRepository(world.platform.redis, world.platform.keys, IDEMPOTENCY_LIMITS)
    const call = {
      callerId,
      keyHash: contentHash([callerId, 'items', key]),
      bodyHash: contentHash(ItemsRequest.parse(body)),
    }
    await calls.start(call, 'token')
    world.startWorker()
    await untilMadeAhead(world, 'broken-off', 10).finally(() => world.stopWorkers())
    const { items } = await world.features.runs.itemQueue.next(run, 3, 'token') // broken off after three
    await calls.release(call, 'token') // its lease ends
    const again = await ask(body, key)
    expect(again.body.items.slice(0, 3)).toEqual(items)
    const next = await ask(body, 'next')
    const ids = [...again.body.items, ...next.body.items].map(({ id }: Item) => id)
    expect(new Set(ids).size).toBe(10)
    expect(await keptIn(world, 'run:broken-off}*taken-items*')).toEqual([])
  })

  it('leaves nothing in Redis that does not expire', async () => {
    await world.call('PUT', '/runs/repeats', {})
    await ask({ run: 'repeats' }, 'expires')
    for (const key of await stored()) expect(await world.platform.redis.pttl(key), key).toBeGreaterThan(0)
  })
})

it('an item that was made lately is not made again, neither here nor on another node', async () => {
  const recipe = { task: 'leg_counting', seed: 4712 }
  const [first] = await post(recipe)
  const node = await openWorld({ prefix: world.prefix })
  try {
    const made = async ({ app }: World) =>
      /rgs_items_made_total\{[^}]*task="leg_counting"[^}]*\} (\d+)/.exec((await app.inject('/metrics')).body)?.[1]
    const before = [await made(world), await made(node)]
    expect(await post(recipe)).toEqual([first])
    for (const { call } of [world, node]) {
      expect((await call('GET', `/items/${first.id}`)).body).toEqual(first)
      expect((await call('POST', '/items', recipe)).body.items).toEqual([first])
    }
    expect([await made(world), await made(node)]).toEqual(before)
  } finally {
    await node.close()
  }
})
