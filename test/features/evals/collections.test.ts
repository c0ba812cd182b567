import { CollectionView } from '@reasoning-gym-server/contract/collection'
import { type MockModelOptions, startMockModel } from '@reasoning-gym-server/mock-model/mock-model'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { scoreGroupJob } from '../../../src/features/rollouts/jobs.ts'
import { Queues } from '../../../src/platform/queue/queues.ts'
import { openWorld, until, type World } from '../../world.ts'
import { startChoosingModel } from './choosing-model.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
})
afterAll(() => world.close())

async function knowledge(text: string) {
  const { status, body } = await world.call('POST', '/items/find', { text })
  return status === 200 ? body : undefined
}
const pretend = (behaviour: Omit<MockModelOptions, 'server'>) => startMockModel({ server: knowledge, ...behaviour })
const look = async (run: string, id: string): Promise<CollectionView> =>
  (await world.call('GET', `/runs/${run}/collect/${id}`)).body
const over = (run: string, id: string) =>
  until(
    () => look(run, id),
    ({ status }) => status === 'done',
    60_000,
  )

it('a run’s items are answered, scored and buffered like posted groups, with tokens and logprobs', async () => {
  const model = await pretend({ accuracy: 0.5 })
  await world.call('PUT', '/runs/gathered', {
    group_size: 4,
    batch_size: 8,
    tasks: ['gcd', 'chain_sum', 'leg_counting'],
  })
  const { status, body } = await world.call('POST', '/runs/gathered/collect', {
    model: { name: 'm', base_url: model.url },
    groups: 10,
    request: { logprobs: true, return_token_ids: true },
  })
  expect([status, body]).toMatchObject([202, { status: 'queued', group_size: 4, progress: { total: 40 } }])
  const done = await over('gathered', body.id)
  expect(CollectionView.parse(done)).toEqual(done)
  expect(done).toMatchObject({
    progress: { done: 40, total: 40, failed: 0 },
    result: { groups: 10, scored: 10, failed: 0 },
  })
  expect(model.counts.right + model.counts.wrong).toBe(40)
  const run = (await world.call('GET', '/runs/gathered')).body
  expect(run.progress).toMatchObject({ groups: 10, rollouts: 40, items: expect.any(Number) })
  expect(run.progress.buffered_groups).toBe(done.result?.destinations.buffered ?? 0)
  expect(run.progress.buffered_groups).toBeGreaterThan(1)

  const batch = (await world.call('POST', '/runs/gathered/batches', { step: 0, final: true })).body
  const [group] = batch.groups
  expect(group.group_id).toMatch(new RegExp(`^${body.id}\\.\\d+$`))
  const [rollout] = group.rollouts
  expect(rollout.tokens.length).toBe(rollout.masks.length)
  expect(rollout.logprobs.length).toBe(rollout.tokens.length)
  const trained = rollout.masks.filter((mask: number) => mask !== -100)
  expect(trained.length).toBe(rollout.length_tokens)
  expect(trained).toEqual(rollout.tokens.slice(-trained.length))
  await model.close()
})

it('what fails is that rollout’s failure; a group of which nothing came is not posted', async () => {
  const model = await pretend({ accuracy: 0.5, rejections: 0.3, serverErrors: 0.2, retryAfterS: 0 })
  await world.call('PUT', '/runs/rough', { group_size: 2, batch_size: 2, tasks: ['gcd'], drop_equal_scores: false })
  const { body } = await world.call('POST', '/runs/rough/collect', {
    model: { name: 'm', base_url: model.url },
    groups: 12,
    buffer: false,
    retries: 20,
  })
  const { result, progress } = await over('rough', body.id)
  expect(result).toMatchObject({ groups: 12 })
  expect(result?.failed).toBeGreaterThan(0)
  expect(progress.failed).toBe((result?.failed ?? 0) * 2)
  expect(result?.destinations).toEqual({ not_buffered: result?.scored })
  expect((await world.call('GET', '/runs/rough')).body.progress.groups).toBe(result?.scored)
  await model.close()
})

it('a rollout without a score is failed in the progress, and no 0 in its mean', async () => {
  const aborted = { message: { content: 'cut' }, finish_reason: 'abort' }
  const wrong = { message: { content: '<answer>x</answer>' }, finish_reason: 'stop' }
  await world.call('PUT', '/runs/aborted', { group_size: 4, batch_size: 4, tasks: ['gcd'] })
  const progressWith = async (...choices: object[]) => {
    const model = await startChoosingModel(...choices)
    const ask = { model: { name: 'm', base_url: model.url }, groups: 2, buffer: false }
    const { body } = await world.call('POST', '/runs/aborted/collect', ask)
    const { progress } = await over('aborted', body.id)
    model.close()
    return progress
  }
  expect(await progressWith(aborted)).toEqual({ done: 8, total: 8, failed: 8, mean_score: null })
  expect(await progressWith(wrong, aborted)).toEqual({ done: 8, total: 8, failed: 7, mean_score: 0 })
  await world.call('PUT', '/runs/aborted', { min_trained_tokens: 1000 })
  const short = { ...wrong, token_ids: [1, 2] }
  expect(await progressWith(short)).toEqual({ done: 8, total: 8, failed: 8, mean_score: null })
})

it('pauses while the buffer is full, and goes on when the trainer has taken a batch', async () => {
  const model = await pretend({ accuracy: 0.5 })
  await world.call('PUT', '/runs/slow', {
    group_size: 2,
    batch_size: 4,
    buffer_max_groups: 4,
    drop_equal_scores: false,
    min_trained_tokens: 0,
    tasks: ['gcd'],
  })
  const { body } = await world.call('POST', '/runs/slow/collect', {
    model: { name: 'm', base_url: model.url },
    groups: 8,
    concurrency: 4,
  })
  await until(
    () => look('slow', body.id),
    ({ waiting_for }) => waiting_for === 'trainer',
  )
  const done = until(
    () => look('slow', body.id),
    ({ status }) => status === 'done',
    60_000,
  )
  let delivered = 0
  for (let step = 0; delivered < 16; step++) {
    const batch = await until(
      () => world.call('POST', '/runs/slow/batches', { step }, { prefer: 'wait=2' }),
      ({ status }) => status === 200,
    )
    delivered += batch.body.rollouts
    await world.call('POST', `/runs/slow/batches/${step}/ack`, {})
  }
  expect((await done).result).toMatchObject({ groups: 8, scored: 8, destinations: { buffered: 8 } })
  await model.close()
})

it('ends when its run is deleted, and neither creates it again nor posts to the next of its name', async () => {
  const model = await pretend({ accuracy: 0.5, latencyMs: 60 })
  const settings = { group_size: 3, batch_size: 3, tasks: ['gcd'] }
  expect((await world.call('PUT', '/runs/gone', settings)).status).toBe(201)
  const { body } = await world.call('POST', '/runs/gone/collect', {
    model: { name: 'm', base_url: model.url },
    groups: 200,
    concurrency: 4,
    buffer: false,
  })
  await until(
    () => look('gone', body.id),
    ({ progress }) => progress.done >= 3,
  )
  expect((await world.call('DELETE', '/runs/gone')).status).toBe(204)
  const failed = () =>
    until(
      () => look('gone', body.id),
      ({ status }) => status === 'failed',
    )
  expect((await failed()).detail).toBe('The run was deleted or lost')
  expect((await world.call('GET', '/runs/gone')).status).toBe(404)
  expect((await world.call('PUT', '/runs/gone', settings)).status).toBe(201)
  await world.call('POST', `/runs/gone/collect/${body.id}/resume`)
  await failed()
  expect((await world.call('GET', '/runs/gone')).body.progress.groups ?? 0).toBe(0)
  await model.close()
})

it('goes on when a checkpoint of its run is restored while a group is scored', async () => {
  const model = await pretend({ accuracy: 0.5 })
  await world.call('PUT', '/runs/back', { group_size: 2, batch_size: 2, tasks: ['gcd'] })
  const { body: checkpoint } = await world.call('GET', '/runs/back/checkpoint')
  const { redis, keys } = world.platform
  const queues = new Queues(redis, keys.queuePrefix)
  await queues.getOrCreate(scoreGroupJob.name).pause()
  const { body } = await world.call('POST', '/runs/back/collect', {
    model: { name: 'm', base_url: model.url },
    groups: 4,
    buffer: false,
  })
  await until(
    () => world.call('GET', '/runs/back'),
    ({ body: run }) => run.progress.queued_groups > 0,
  )
  expect((await world.call('PUT', '/runs/back/checkpoint', checkpoint)).body.forgotten.queued_groups).toBeGreaterThan(0)
  await queues.getOrCreate(scoreGroupJob.name).resume()
  const ended = await until(
    () => look('back', body.id),
    ({ status }) => status === 'done' || status === 'failed',
    60_000,
  )
  expect(ended).toMatchObject({ status: 'done', result: { groups: 4, scored: 4 } })
  await queues.close()
  await model.close()
})

it('is cancelled and resumed; no group comes twice', async () => {
  const model = await pretend({ accuracy: 0.5, latencyMs: 60 })
  await world.call('PUT', '/runs/stopped', { group_size: 3, batch_size: 3, tasks: ['gcd'] })
  const { body } = await world.call('POST', '/runs/stopped/collect', {
    model: { name: 'm', base_url: model.url },
    groups: 20,
    concurrency: 6,
    buffer: false,
  })
  await until(
    () => look('stopped', body.id),
    ({ progress }) => progress.done >= 9,
  )
  expect((await world.call('DELETE', `/runs/stopped/collect/${body.id}`)).body.status).toBe('cancelled')
  expect((await world.call('POST', `/runs/stopped/collect/${body.id}/resume`)).body.status).toBe('running')
  expect((await over('stopped', body.id)).result).toMatchObject({ groups: 20, scored: 20 })
  expect((await world.call('GET', '/runs/stopped')).body.progress).toMatchObject({ groups: 20, rollouts: 60 })
  expect(model.counts.right + model.counts.wrong).toBeLessThanOrEqual(60 + 6)
  const { collections } = (await world.call('GET', '/runs/stopped/collect')).body
  expect(collections.map(({ id }: CollectionView) => id)).toEqual([body.id])
  expect((await world.call('GET', `/runs/other/collect/${body.id}`)).body.code).toBe('unknown_collection')
  const never = await world.call('GET', '/runs/never-was/collect')
  expect([never.status, never.body.code]).toEqual([404, 'unknown_run'])
  await model.close()
})

it('an Idempotency-Key stands for one collection', async () => {
  const model = await pretend({ accuracy: 1 })
  const ask = { model: { name: 'm', base_url: model.url }, groups: 1, buffer: false }
  await world.call('PUT', '/runs/keyed', { group_size: 1, batch_size: 1, tasks: ['gcd'] })
  const post = () => world.call('POST', '/runs/keyed/collect', ask, { 'idempotency-key': 'k' })
  const [a, b] = await Promise.all([post(), post()])
  expect(b.body.id).toBe(a.body.id)
  await over('keyed', a.body.id)
  expect((await post()).body.id).toBe(a.body.id)
  expect((await world.call('GET', '/runs/keyed')).body.progress.groups).toBe(1)
  await model.close()
})
