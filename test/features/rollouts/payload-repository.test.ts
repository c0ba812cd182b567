import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { scoreGroupJob } from '../../../src/features/rollouts/jobs.ts'
import {
  PAYLOAD_EXPIRY_MS,
  PayloadRepository,
  sweepPayloads,
} from '../../../src/features/rollouts/payload-repository.ts'
import { createGroupKeys, type GroupRef } from '../../../src/features/rollouts/records.ts'
import { GroupRepository } from '../../../src/features/rollouts/repository.ts'
import { Queues } from '../../../src/platform/queue/queues.ts'
import { listMasters } from '../../../src/platform/redis/cluster.ts'
import { keysOf, openWorld, until, type World } from '../../world.ts'

let world: World
let itemId: string
const TOKENS = Array.from({ length: 40 }, (_, k) => k)
beforeAll(async () => {
  world = await openWorld()
  itemId = (await world.call('POST', '/items', { task: 'gcd', seed: 1 })).body.items[0].id
})
afterEach(async () => {
  vi.restoreAllMocks()
  await world.stopWorkers()
})
afterAll(() => world.close())

const post = (run: string, group_id: string, more: object = {}) => {
  const rollouts = [
    { completion: 'x', tokens: TOKENS },
    { completion: '<answer>1</answer>', tokens: TOKENS },
  ]
  return world.call('POST', '/rollouts', { run, item_id: itemId, group_id, rollouts, ...more }, { prefer: 'wait=0' })
}
const begin = async (run: string, settings: object = {}): Promise<GroupRef> => {
  const { status } = await world.call('PUT', `/runs/${run}`, {
    tasks: ['gcd'],
    batch_size: 2,
    group_size: 2,
    drop_equal_scores: false,
    ...settings,
  })
  expect([200, 201]).toContain(status)
  const { epoch } = await world.features.runs.runs.require(run)
  return { run, epoch, group: 'g' }
}
const scored = (run: string, id: string) =>
  until(
    () => world.call('GET', `/rollouts/${id}?run=${run}`),
    ({ body }) => body.status !== 'queued',
  )
/** The payload keys of a run by their last part, and how long each lives (-1: for ever). */
const payloads = async (run: string): Promise<{ part: string; key: string; ttl: number }[]> => {
  const { redis } = world.platform
  const found = (await keysOf(redis, `${world.prefix}:payload:${run}:*`)).toSorted()
  return Promise.all(found.map(async (key) => ({ part: key.split(':').at(-1) ?? '', key, ttl: await redis.pttl(key) })))
}
const lasting = async (run: string) => (await payloads(run)).filter(({ ttl }) => ttl === -1).map(({ part }) => part)
const record = ({ run, epoch, group }: GroupRef) => createGroupKeys(world.platform.keys).forRun(run, epoch).group(group)

describe('a payload', () => {
  it('does not expire once its group is accepted; its arrays go with the batch, its texts a day later', async () => {
    const ref = await begin('whole')
    expect((await post('whole', 'g')).status).toBe(202)
    expect(await lasting('whole')).toEqual(['arrays', 'texts'])
    world.startWorker()
    await scored('whole', 'g')
    const batch = await world.call('POST', '/runs/whole/batches', { step: 0 })
    expect(batch.body.groups[0].rollouts.map(({ tokens }: { tokens: number[] }) => tokens)).toEqual([TOKENS, TOKENS])
    expect(await lasting('whole')).toEqual(['arrays', 'texts'])
    expect((await world.call('POST', '/runs/whole/batches/0/ack')).status).toBe(200)
    const [texts] = await until(
      () => payloads('whole'),
      (left) => left.length === 1,
    )
    expect(texts).toMatchObject({ part: 'texts' })
    expect(texts?.ttl).toBeGreaterThan(PAYLOAD_EXPIRY_MS)
    expect((await world.call('GET', '/runs/whole/groups')).body.groups[0].completions[0].text).toBe('x')
    const { releasedPayloads } = createGroupKeys(world.platform.keys).forRun('whole', ref.epoch)
    await until(
      () => world.platform.redis.scard(releasedPayloads),
      (left) => left === 0,
    )
  })

  it('is not left behind by a post that is refused or repeated', async () => {
    await begin('refused')
    await post('refused', 'g')
    const before = await payloads('refused')
    expect((await post('refused', 'g')).status).toBe(202)
    expect((await post('refused', 'g', { extra: 'different' })).status).toBe(409)
    expect(await payloads('refused')).toEqual(before)
  })

  it('expires if the process dies before the group is accepted', async () => {
    const ref = await begin('crashed')
    await new PayloadRepository(world.platform).write(ref, {
      texts: Buffer.from('t'),
      arrays: Buffer.from('a'),
    })
    const left = await payloads('crashed')
    expect(left).toHaveLength(2)
    for (const { ttl } of left) expect(ttl).toBeGreaterThan(PAYLOAD_EXPIRY_MS / 2)
  })

  it('is kept by the worker if the process dies once the group is accepted', async () => {
    await begin('unanswered')
    vi.spyOn(PayloadRepository.prototype, 'keep').mockRejectedValue(new Error('died'))
    expect((await post('unanswered', 'g')).status).toBeGreaterThanOrEqual(500)
    vi.restoreAllMocks()
    expect(await lasting('unanswered')).toEqual([])
    expect((await world.features.rollouts.groups.getQueued(await begin('unanswered')))?.texts).toBeDefined()
    expect(await lasting('unanswered')).toEqual(['arrays', 'texts'])
  })

  it('that Redis has lost is written again by a repeated post', async () => {
    const ref = await begin('repeated')
    await post('repeated', 'g')
    const [arrays, texts] = await payloads('repeated')
    await Promise.all([arrays, texts].map((lost) => world.platform.redis.del(lost?.key ?? '')))
    expect(await world.features.rollouts.groups.getQueued(ref)).toBeUndefined() // waits for the client
    expect((await post('repeated', 'g')).status).toBe(202)
    expect(await lasting('repeated')).toEqual(['arrays', 'texts'])
    world.startWorker()
    await scored('repeated', 'g')
    expect((await world.call('POST', '/runs/repeated/batches', { step: 0 })).body.groups[0].rollouts).toHaveLength(2)
  })

  it('that nobody writes again fails its group in the end', async () => {
    const ref = await begin('lost')
    await post('lost', 'g')
    const { redis } = world.platform
    await Promise.all((await payloads('lost')).map(({ key }) => redis.del(key)))
    await redis.hset(record(ref), 'accepted_at', 1)
    world.startWorker()
    const queues = new Queues(redis, world.platform.keys.queuePrefix)
    const failed = await until(
      async () => {
        await queues.getOrCreate(scoreGroupJob.name).promoteJobs() // rather than wait for each attempt longer
        return world.call('GET', '/rollouts/g?run=lost')
      },
      ({ body }) => body.status !== 'queued',
    )
    await queues.close()
    expect(failed.body).toMatchObject({ status: 'failed', code: 'redis_unavailable' })
  })

  it('that a batch has lost says so, and the batch can be acknowledged', async () => {
    await begin('missing')
    await post('missing', 'g')
    world.startWorker()
    await scored('missing', 'g')
    const { redis } = world.platform
    await Promise.all((await payloads('missing')).map(({ key }) => redis.del(key)))
    const answer = await world.call('POST', '/runs/missing/batches', { step: 0 })
    expect(answer).toMatchObject({ status: 503, body: { detail: expect.stringContaining('lost the texts') } })
    expect((await world.call('POST', '/runs/missing/batches/0/ack')).status).toBe(200)
  })

  it('that a process has released but not deleted is found by the sweep', async () => {
    await begin('swept')
    await post('swept', 'g')
    world.startWorker()
    await scored('swept', 'g')
    await world.stopWorkers() // their schedule would sweep, too
    expect((await world.call('POST', '/runs/swept/batches', { step: 0 })).status).toBe(200)
    vi.spyOn(PayloadRepository.prototype, 'release').mockResolvedValue(undefined) // as if the process died before it
    expect((await world.call('POST', '/runs/swept/batches/0/ack')).status).toBe(200)
    expect(await lasting('swept')).toEqual(['arrays', 'texts'])
    const { index, repository: runs } = world.features.runs
    const { platform } = world
    await sweepPayloads({ index, runs, payloads: new PayloadRepository(platform), log: platform.log })
    expect((await payloads('swept')).map(({ part, ttl }) => [part, ttl > 0])).toEqual([['texts', true]])
  })

  it('is on another master than the next one if there are several', async () => {
    const ref = await begin('spread', { buffer_max_groups: 100 })
    const { redis } = world.platform
    const groups = new GroupRepository(world.platform)
    await Promise.all(Array.from({ length: 20 }, (_, k) => post('spread', `g${k}`)))
    expect(await groups.getQueued({ ...ref, group: 'g3' })).toBeDefined()
    const held = await Promise.all(listMasters(redis).map((node) => node.keys(`${world.prefix}:payload:spread:*`)))
    for (const found of held) expect(found.length).toBeGreaterThan(0)
    expect(held.flat()).toHaveLength(40)
  })
})
