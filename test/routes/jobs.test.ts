import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { Queue } from 'bullmq'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, until, type World } from '../world.ts'

let world: World
let itemId: string

beforeAll(async () => {
  world = await openWorld()
  itemId = (await world.call('POST', '/items', { task: 'simple_integration', seed: 1 })).body.items[0].id
})
afterAll(() => world.close())

/** A group whose job has one try left. */
async function post(run: string, group_id: string, { call, platform, features } = world): Promise<void> {
  const rollouts = [{ completion: '<answer>x</answer>', tokens: Array(12).fill(7) }, { completion: 'no answer' }]
  const body = { run, item_id: itemId, group_id, rollouts }
  expect((await call('POST', '/rollouts', body)).status).toBe(202)
  const queue = new Queue('score-group', { connection: platform.redis, prefix: platform.keys.queuePrefix })
  const { epoch } = await features.runs.runs.require(run)
  const job = await queue.getJob(`${run}~${epoch}~${group_id}`)
  expect(job).toBeDefined()
  await job?.remove()
  await queue.add('score-group', job?.data, { jobId: job?.id ?? '', attempts: 1 })
  await queue.close()
}
const look = async (run: string, group: string, { call } = world) =>
  (await call('GET', `/rollouts/${group}?run=${run}`)).body
const progress = async (run: string) => (await world.call('GET', `/runs/${run}`)).body.progress

it('of groups that share a job, one that fails is listed and tried again by itself', async () => {
  const { body } = await world.call('POST', '/items', { task: 'chain_sum', seed: 1, count: 2 })
  const [good, bad] = body.items.map(({ id }: { id: string }) => id)
  await world.call('PUT', '/runs/shared', {})
  const groups = Array.from({ length: 6 }, (_, k) => ({
    item_id: k === 3 ? bad : good,
    group_id: `g${k}`,
    rollouts: [{ completion: '<answer>1</answer>' }],
  }))
  expect((await world.call('POST', '/rollouts', { run: 'shared', groups })).status).toBe(202)
  const lame = await openWorld({ prefix: world.prefix })
  const { items } = lame.features.items
  const resolve = items.resolveItemId.bind(items)
  items.resolveItemId = (id) =>
    id === bad ? Promise.reject(new ServiceError('engine_version_mismatch', 'not here')) : resolve(id)
  lame.startWorker()
  const { jobs } = await until(
    async () => (await world.call('GET', '/jobs/failed')).body,
    ({ total }) => total === 1,
  )
  await lame.close()
  expect(jobs[0]).toMatchObject({ id: expect.stringMatching(/^score-group~shared~\d+~g3$/), data: { group: 'g3' } })
  expect(await progress('shared')).toMatchObject({ scored_groups: 5, failed_groups: 1, queued_groups: 0 })
  expect((await world.call('POST', `/jobs/failed/${jobs[0].id}/retry`)).status).toBe(202)
  world.startWorker()
  const done = await world.call('GET', '/rollouts/g3?run=shared', undefined, { prefer: 'wait=20' })
  expect(done.body).toMatchObject({ status: 'scored' })
  await world.stopWorkers()
  expect(await progress('shared')).toMatchObject({ groups: 6, scored_groups: 6, failed_groups: 0 })
})

it('a job that fails for good is listed with its reason; tried again, its group is scored once, with its tokens', async () => {
  await world.call('PUT', '/runs/broken', { drop_equal_scores: false, batch_size: 2 })
  await post('broken', 'g')
  const lame = await openWorld({ prefix: world.prefix })
  lame.features.items.items.resolveItemId = () =>
    Promise.reject(new ServiceError('make_timeout', 'The item could not be made'))
  lame.startWorker()
  try {
    const failed = await until(
      () => look('broken', 'g'),
      ({ status }) => status !== 'queued',
    )
    expect(failed).toMatchObject({ status: 'failed', code: 'make_timeout', destination: null, verdicts: [] })
    expect(failed.detail).toBeTruthy()
    await until(
      () => world.call('GET', '/jobs/failed'),
      ({ body }) => body.total === 1,
    )
  } finally {
    await lame.close()
  }
  expect(await progress('broken')).toMatchObject({ failed_groups: 1, queued_groups: 0, buffered_groups: 0 })
  const { jobs } = (await world.call('GET', '/jobs/failed')).body
  expect(jobs).toMatchObject([
    {
      id: expect.stringMatching(/^score-group~broken~\d+~g$/),
      queue: 'score-group',
      data: { run: 'broken', group: 'g' },
      attempts: 1,
    },
  ])
  expect(jobs[0].reason).toBeTruthy()

  // Several admins at once; then a worker that can.
  const retries = await Promise.all([1, 2, 3].map(() => world.call('POST', `/jobs/failed/${jobs[0].id}/retry`)))
  expect(retries.map(({ status }) => status)).toContain(202)
  expect(await progress('broken')).toMatchObject({ failed_groups: 0, queued_groups: 1 })
  world.startWorker()
  const done = (await world.call('GET', '/rollouts/g?run=broken', undefined, { prefer: 'wait=20' })).body
  expect(done).toMatchObject({ status: 'scored', destination: 'buffered' })
  expect(await progress('broken')).toMatchObject({ groups: 1, scored_groups: 1, failed_groups: 0, buffered_groups: 1 })
  expect((await world.call('GET', '/jobs/failed')).body).toEqual({ total: 0, jobs: [] })
  const batch = (await world.call('POST', '/runs/broken/batches', { step: 0 })).body
  expect(batch.groups[0].rollouts[0].tokens).toEqual(Array(12).fill(7))
})

it('a group waits for the engine longer than its tries last, and is scored when there is one', async () => {
  const down = await openWorld({ python: '/bin/false' })
  const queue = new Queue('score-group', { connection: down.platform.redis, prefix: down.platform.keys.queuePrefix })
  const other = await openWorld({ prefix: down.prefix })
  try {
    itemId = (await other.call('POST', '/items', { task: 'simple_integration', seed: 1 })).body.items[0].id
    await other.call('PUT', '/runs/patient', {})
    await post('patient', 'g', other)
    down.startWorker()
    const [job] = await until(
      () => queue.getJobs(['delayed', 'failed']),
      ([first]) => first !== undefined,
    )
    const state = await until(
      async () => job?.getState(),
      (now) => now === 'delayed' || now === 'failed', // in between, it is tried again
    )
    expect(state).toBe('delayed')
    expect(job?.attemptsMade).toBe(0)
    expect(await look('patient', 'g', other)).toMatchObject({ status: 'queued' })
    other.startWorker()
    const done = await until(
      () => look('patient', 'g', other),
      ({ status }) => status !== 'queued',
    )
    expect(done.status).toBe('scored')
  } finally {
    await queue.close()
    await other.close()
    await down.close()
  }
})

it('what is not there cannot be tried again', async () => {
  for (const id of ['score-group~broken~1~g', 'nothing', 'score-group~x'])
    expect((await world.call('POST', `/jobs/failed/${id}/retry`)).body.code).toBe('not_found')
})
