import { Eval } from '@reasoning-gym-server/contract/eval'
import { EvalSample } from '@reasoning-gym-server/contract/eval-sample'
import { type MockModelOptions, startMockModel } from '@reasoning-gym-server/mock-model/mock-model'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ROUND_ITEMS } from '../../../src/features/evals/kinds/frontier.ts'
import { openWorld, until, type World } from '../../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
})
afterAll(() => world.close())

const TASKS = ['chain_sum', 'spell_backward', 'leg_counting', 'caesar_cipher']

async function knowledge(text: string) {
  const { status, body } = await world.call('POST', '/items/find', { text })
  return status === 200 ? body : undefined
}

const getEval = async (id: string): Promise<Eval> => (await world.call('GET', `/eval/${id}`)).body
const over = (id: string) =>
  until(
    () => getEval(id),
    ({ status }) => status !== 'queued' && status !== 'running',
    90_000,
  )

/** `between` is called while the eval is at work. */
async function measure(
  skill: Omit<MockModelOptions, 'server'>,
  input: object = {},
  between: (id: string) => Promise<unknown> = async () => undefined,
) {
  const model = await startMockModel({ server: knowledge, ...skill })
  try {
    const suite = { mode: 'frontier', tasks: TASKS, seed: 3 }
    // `seed`: the mock model answers an item the same in whatever order it is asked.
    const body = { model: { name: 'mock', base_url: model.url }, suite, seed: 0, ...input }
    const { status, body: started } = await world.call('POST', '/eval', body)
    expect([status, started]).toMatchObject([202, { id: expect.any(String) }])
    await between(started.id)
    const view = await over(started.id)
    return { view, frontier: view.result?.frontier, samples: await samplesOf(started.id) }
  } finally {
    await model.close()
  }
}

async function samplesOf(id: string): Promise<EvalSample[]> {
  const { body } = await world.app.inject({ url: `/eval/${id}/samples` })
  return body
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => EvalSample.parse(JSON.parse(line)))
}

it('finds the difficulty at which a model gets half right, with twenty items a task', async () => {
  // right with probability 1 − difficulty
  const { view, frontier, samples } = await measure({ accuracy: 1, accuracyAtHardest: 0, seed: 2 })
  expect(Eval.parse(view)).toEqual(view)
  expect(view).toMatchObject({ status: 'done', suite: { name: 'frontier', items: 80 }, progress: { done: 80 } })
  expect(Object.keys(frontier?.tasks ?? {})).toEqual([...TASKS].toSorted())
  const places = Object.values(frontier?.tasks ?? {})
  const holding = places.filter(({ interval_90: [low = 0, high = 0] }) => low <= 0.5 && 0.5 <= high)
  expect(holding.length).toBeGreaterThanOrEqual(3)
  expect(frontier?.difficulty_at_half).toBeGreaterThan(0.35)
  expect(frontier?.difficulty_at_half).toBeLessThan(0.65)
  for (const { items, interval_90, cap, beyond } of places) {
    expect(items).toBe(20)
    expect(cap).toBeGreaterThan(0.8)
    expect((interval_90[1] ?? 0) - (interval_90[0] ?? 0)).toBeLessThan(0.6)
    expect(beyond).toBeNull()
  }
  // the first round of a task is spread, the last ones are near the frontier
  const spread = samples.filter(({ task }) => task === 'chain_sum').map(({ difficulty }) => difficulty ?? 0)
  expect(new Set(spread.slice(0, ROUND_ITEMS)).size).toBeGreaterThan(1)
  expect(new Set(samples.map(({ item_id }) => item_id)).size).toBe(80)
  for (const { item_id } of samples) expect(Number(item_id.split('.')[1])).toBe(2 ** 30 + 3)

  const { body } = await world.call('GET', '/eval?suite=frontier')
  expect(body.evals[0].difficulty_at_half).toBe(frontier?.difficulty_at_half)
  const start = { complexity_mode: 'frontier', tasks: TASKS, curriculum_start: { eval: view.id } }
  expect((await world.call('PUT', '/runs/started-there', start)).status).toBeLessThan(300)
  const markdown = (await world.app.inject({ url: `/eval/${view.id}/report` })).body
  expect(markdown).toContain('| task | difficulty at half |')
  expect(await world.call('GET', `/eval/${view.id}/hub-results?dataset=my-org/bench`)).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', detail: expect.stringContaining('chooses its items by the answers') },
  })
})

it('a model that is always right, or never, lies beyond the ladder', async () => {
  const strong = await measure({ accuracy: 1 })
  expect(Object.values(strong.frontier?.tasks ?? {}).map(({ beyond }) => beyond)).toEqual(
    TASKS.map(() => 'above_ladder'),
  )
  expect(strong.frontier?.difficulty_at_half).toBeGreaterThan(0.9)
  const weak = await measure({ accuracy: 0 }, { suite: { mode: 'frontier', tasks: ['chain_sum'], n: 10 } })
  expect(weak.frontier?.tasks.chain_sum).toMatchObject({ beyond: 'below_ladder', items: 10 })
})

it('workers that go away half way, and another concurrency, change no item and no figure', async () => {
  const skill = { accuracy: 1, accuracyAtHardest: 0, seed: 5, rateLimits: 0.1, retryAfterS: 0 }
  const suite = { mode: 'frontier', tasks: TASKS.slice(0, 2), n: 14 }
  const alone = await measure(skill, { suite, concurrency: 16 })
  const interrupted = await measure({ ...skill, latencyMs: 30 }, { suite, concurrency: 3 }, async (id) => {
    for (const done of [3, 11]) {
      await until(
        () => getEval(id),
        ({ progress }) => progress.done >= done,
      )
      await world.stopWorkers()
      expect((await getEval(id)).status).toBe('running')
      world.startWorker()
    }
  })
  expect(interrupted.frontier).toEqual(alone.frontier)
  expect(interrupted.samples.map(({ item_id, score }) => [item_id, score])).toEqual(
    alone.samples.map(({ item_id, score }) => [item_id, score]),
  )
})

it('a cancelled one tells of what was answered, and goes on when it is resumed', async () => {
  const skill = { accuracy: 1, accuracyAtHardest: 0, seed: 5, latencyMs: 40 }
  const suite = { mode: 'frontier', tasks: ['chain_sum', 'spell_backward'], n: 12 }
  const { view, frontier } = await measure(skill, { suite, concurrency: 2 }, async (id) => {
    await until(
      () => getEval(id),
      ({ progress }) => progress.done >= 9,
    )
    const { body } = await world.call('DELETE', `/eval/${id}`)
    expect(body).toMatchObject({ status: 'cancelled', result: { frontier: { tasks: { chain_sum: {} } } } })
    expect(body.result.frontier.tasks.chain_sum.items).toBeLessThan(12)
    expect((await world.call('POST', `/eval/${id}/resume`, {})).status).toBe(202)
  })
  expect(view).toMatchObject({ status: 'done', result: { n: 24, scored: 24, missing: 0 } })
  expect(frontier?.tasks.chain_sum?.items).toBe(12)
})

it('requests that fail leave a gap, which another attempt fills', async () => {
  const suite = { mode: 'frontier', tasks: ['chain_sum'], n: 12 }
  const { view, frontier } = await measure({ accuracy: 1, rejections: 0.3, seed: 1 }, { suite })
  expect(view.result?.unscored).toBeGreaterThan(0)
  expect(frontier?.tasks.chain_sum?.items).toBe(12 - (view.result?.unscored ?? 0))
})

it('tasks whose difficulty cannot be adjusted are left out with a reason, and refused alone', async () => {
  const fixed = world.features.tasks.tasks.list().find(({ adjustable }) => !adjustable)?.name ?? ''
  const suite = { mode: 'frontier', tasks: ['chain_sum', fixed], n: 4 }
  const { frontier } = await measure({ accuracy: 1 }, { suite })
  expect(Object.keys(frontier?.tasks ?? {})).toEqual(['chain_sum'])
  expect(frontier?.left_out[fixed]).toContain('cannot be adjusted')
  const model = { name: 'm', base_url: 'http://127.0.0.1:9/v1' }
  for (const [body, field] of [
    [{ model, suite: { mode: 'frontier', tasks: [fixed] } }, undefined],
    [{ model: null, suite: 'frontier' }, 'model'],
    [{ model, suite: 'frontier', samples_per_item: 2 }, 'samples_per_item'],
  ] as const) {
    const { status, body: problem } = await world.call('POST', '/eval', body)
    expect([status, problem.code]).toEqual([400, 'invalid_request'])
    if (field) expect(JSON.stringify(problem.errors)).toContain(field)
  }
})

it('without a choice it is of all tasks that have a ladder and cannot be guessed', async () => {
  const model = { name: 'm', base_url: 'http://127.0.0.1:9/v1' }
  const { body } = await world.call('POST', '/eval', { model, suite: 'frontier', retries: 0 })
  const { tasks, ladders, cards } = world.features.tasks
  const canBeMeasured = (task: string) =>
    ladders.rungs(task).some(({ difficulty }) => cards.guessFloor(task, difficulty, 'upstream') < 0.9)
  const measured = tasks.list().filter(({ name, adjustable }) => adjustable && canBeMeasured(name))
  expect(measured.length).toBeGreaterThan(90)
  expect(body).toMatchObject({ suite: { name: 'frontier', items: 20 * measured.length } })
  await world.call('DELETE', `/eval/${body.id}`)
})
