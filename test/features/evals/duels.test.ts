import { type DuelItem, DuelView } from '@reasoning-gym-server/contract/duel'
import { type MockModelOptions, startMockModel } from '@reasoning-gym-server/mock-model/mock-model'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { keysOf, openWorld, until, type World } from '../../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
})
afterAll(() => world.close())

type Skill = Omit<MockModelOptions, 'server'>

async function knowledge(text: string) {
  const { status, body } = await world.call('POST', '/items/find', { text })
  return status === 200 ? body : undefined
}

/** `seed`: the mock model answers an item the same, however often and in whatever order it is asked. */
const TASKS = { suite: { tasks: ['leg_counting', 'chain_sum', 'spell_backward'] }, seed: 0 }

const getDuel = async (id: string): Promise<DuelView> => (await world.call('GET', `/duels/${id}`)).body
const over = (id: string) =>
  until(
    () => getDuel(id),
    ({ status }) => status !== 'queued' && status !== 'running',
    60_000,
  )

async function withModels<T>(a: Skill, b: Skill, use: (models: object) => Promise<T>): Promise<T> {
  const models = await Promise.all([a, b].map((skill) => startMockModel({ server: knowledge, ...skill })))
  const [first, second] = models.map(({ url }, k) => ({
    name: `mock-${k}`,
    base_url: url,
    ...([a, b][k]?.apiKey && { api_key: [a, b][k]?.apiKey }),
  }))
  try {
    return await use({ a: first, b: second })
  } finally {
    await Promise.all(models.map((model) => model.close()))
  }
}

const fight = (a: Skill, b: Skill, input: object = {}) =>
  withModels(a, b, async (models) => {
    const { status, body } = await world.call('POST', '/duels', { ...models, ...TASKS, ...input })
    expect([status, body]).toMatchObject([202, { id: expect.any(String) }])
    return over(body.id)
  })

async function itemsOf(id: string): Promise<DuelItem[]> {
  const { body } = await world.app.inject({ url: `/duels/${id}/items` })
  return body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

it('the better of two models wins, long before all items are used', async () => {
  const duel = await fight({ accuracy: 0.3, seed: 1 }, { accuracy: 0.95, seed: 2 }, { max_items: 400 })
  expect(DuelView.parse(duel)).toEqual(duel)
  expect(duel).toMatchObject({ status: 'done', tasks: 3, result: { verdict: 'b_better', ended_by: 'winner' } })
  const { result } = duel
  expect(result?.items).toBeLessThan(60)
  expect(result?.e_value).toBeGreaterThanOrEqual(20)
  expect(result?.p).toBeLessThanOrEqual(0.05)
  expect(result?.confidence_sequence?.[1]).toBeLessThan(0)
  expect(result?.confidence_sequence?.[0]).toBeLessThan(-0.65)

  const items = await itemsOf(duel.id)
  const counted = items.filter((item) => item.counted)
  expect(counted.length).toBe(result?.items)
  const difference = counted.reduce((sum, { a, b }) => sum + (a.score ?? 0) - (b.score ?? 0), 0) / counted.length
  expect(result?.difference).toBeCloseTo(difference, 12)
  expect(new Set(items.map(({ item_id }) => item_id)).size).toBe(items.length)
  for (const { item_id } of items) expect(Number(item_id.split('.')[1])).toBe(2 ** 30)

  const report = await world.app.inject({ url: `/duels/${duel.id}/report` })
  expect(report.headers['content-type']).toContain('text/markdown')
  expect(report.body).toContain('b (mock-1) is better: shown with 95% confidence')
})

it('equal models end without a difference: by equivalence, or after all items', async () => {
  const perfect = await fight({ accuracy: 1 }, { accuracy: 1 }, { smallest_difference: 0.2 })
  expect(perfect.result).toMatchObject({ verdict: 'no_difference_found', ended_by: 'equivalence', difference: 0, p: 1 })
  expect(perfect.result?.items).toBeLessThan(100)
  const even = await fight({ accuracy: 0.6, seed: 1 }, { accuracy: 0.6, seed: 2 }, { max_items: 30 })
  expect(even.result).toMatchObject({ verdict: 'no_difference_found', ended_by: 'max_items', items: 30 })
})

it('a duel whose workers go away half way has the result of one that was left alone', async () => {
  const skills: [Skill, Skill] = [
    { accuracy: 0.7, seed: 5 },
    { accuracy: 0.5, seed: 6 },
  ]
  const input = { max_items: 60, concurrency: 5 }
  const alone = await fight(...skills, input)
  const slow = skills.map((skill) => ({ ...skill, latencyMs: 20 })) as [Skill, Skill] // so that it is half way at some time
  const interrupted = await withModels(...slow, async (models) => {
    const { body } = await world.call('POST', '/duels', { ...models, ...TASKS, ...input })
    for (const done of [10, 25]) {
      await until(
        () => getDuel(body.id),
        ({ progress }) => progress.done >= done,
      )
      await world.stopWorkers()
      expect((await getDuel(body.id)).status).toBe('running')
      world.startWorker()
    }
    return over(body.id)
  })
  expect({ ...interrupted.result, repeat: null }).toEqual({ ...alone.result, repeat: null })
})

it('a cancelled duel says how it stood, and ends as ever once it is resumed', async () => {
  const skills: [Skill, Skill] = [
    { accuracy: 0.4, seed: 1, latencyMs: 30, apiKey: 'secret-of-a' },
    { accuracy: 0.9, seed: 2, latencyMs: 30, apiKey: 'secret-of-b' },
  ]
  const resumed = await withModels(...skills, async (models) => {
    const { body } = await world.call('POST', '/duels', { ...models, ...TASKS, concurrency: 2 })
    const active = await until(
      () => getDuel(body.id),
      ({ progress }) => progress.done >= 6,
    )
    expect(active.result).toMatchObject({ ended_by: null, verdict: 'no_difference_found' })
    const { body: cancelled } = await world.call('DELETE', `/duels/${body.id}`)
    expect(cancelled).toMatchObject({ status: 'cancelled', result: { ended_by: 'interruption' } })
    expect(JSON.stringify(cancelled)).not.toContain('secret')
    const { redis } = world.platform
    for (const key of await keysOf(redis, `*${body.id}*`))
      expect((await redis.dump(key))?.includes('secret-of')).not.toBe(true)
    const keys = { api_key_a: 'secret-of-a', api_key_b: 'secret-of-b' }
    expect((await world.call('POST', `/duels/${body.id}/resume`, keys)).status).toBe(202)
    return over(body.id)
  })
  expect(resumed).toMatchObject({ status: 'done', result: { verdict: 'b_better', skipped: 0 } })
})

it('items that a model fails to answer are left out and said, and never count against it', async () => {
  const duel = await fight({ accuracy: 1, rejections: 0.3 }, { accuracy: 1 }, { max_items: 30, smallest_difference: 0 })
  expect(duel.result).toMatchObject({ verdict: 'no_difference_found', difference: 0 })
  expect(duel.result?.skipped).toBeGreaterThan(0)
  expect(duel.result?.failures).toMatchObject([{ code: 'generation_failed', count: duel.result?.skipped }])
  expect((duel.result?.items ?? 0) + (duel.result?.skipped ?? 0)).toBe(30)
})

it('duels are listed by label, and unknown ones and tasks are refused', async () => {
  const { id } = await fight({ accuracy: 1 }, { accuracy: 0 }, { labels: ['pair'], max_items: 60 })
  const { body } = await world.call('GET', '/duels?label=pair')
  expect(body.duels.map((duel: DuelView) => duel.id)).toEqual([id])
  expect((await world.call('GET', '/duels/duel-000000000000')).body.code).toBe('unknown_duel')
  const nowhere = { name: 'm', base_url: 'http://127.0.0.1:9/v1' }
  const { body: refused } = await world.call('POST', '/duels', { a: nowhere, b: nowhere, suite: { tasks: ['nope'] } })
  expect(refused.code).toBe('unknown_task')
  for (const [input, path] of [
    [{ a: nowhere }, 'b'],
    [{ a: nowhere, b: nowhere, smallest_difference: 1 }, 'smallest_difference'],
    [{ a: nowhere, b: nowhere, suite: 'smoke' }, 'suite'],
  ] as const) {
    const { body: invalid } = await world.call('POST', '/duels', input)
    expect(invalid).toMatchObject({ code: 'invalid_request', errors: [{ path }] })
  }
})
