import type { Item } from '@reasoning-gym-server/contract/item'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Checkpoint } from '../../../../src/features/runs/checkpoint/document.ts'
import { MAX_LEASES_AT_ONCE } from '../../../../src/features/runs/checkpoint/repository.ts'
import { schedulePrefetch } from '../../../../src/features/runs/jobs.ts'
import { createRunKeys } from '../../../../src/features/runs/records.ts'
import { PositionRepository } from '../../../../src/features/runs/sequence/positions.ts'
import { redisNow } from '../../../../src/platform/redis/redis-clock.ts'
import { openWorld, takeInOrder, until, type World } from '../../../world.ts'

let world: World
let empty: World
beforeAll(async () => {
  ;[world, empty] = await Promise.all([openWorld({ worker: true }), openWorld({ worker: true })])
})
afterAll(() => Promise.all([world.close(), empty.close()]))

/** Asks until `count` items have come: on a busy machine not all are made within the time of one call. */
async function items(at: World, run: string, count: number): Promise<Item[]> {
  const list: Item[] = []
  while (list.length < count)
    list.push(...((await at.call('POST', '/items', { run, count: count - list.length })).body.items ?? []))
  return list
}
const ids = (list: Item[]) => list.map(({ id }) => id)
const take = async (at: World, run: string): Promise<Checkpoint> =>
  (await at.call('GET', `/runs/${run}/checkpoint`)).body
const view = async (at: World, run: string) => (await at.call('GET', `/runs/${run}`)).body

/** Posts groups of which a share is right, one after the other, and waits for each. */
async function feed(at: World, run: string, list: Item[], share: number): Promise<void> {
  for (const [k, item] of list.entries()) {
    const { body } = await at.call('GET', `/items/${item.id}?reveal=true`)
    const rollouts = Array.from({ length: 4 }, (_, n) => ({
      completion: `<answer>${n < share * 4 ? body.answer : 'zzz'}</answer>`,
      length_tokens: 100 + k,
      policy_version: k,
    }))
    const posted = { run, item_id: item.id, group_id: `${item.recipe.seed}`, rollouts }
    expect((await at.call('POST', '/rollouts', posted, { prefer: 'wait=20' })).body.status).toBe('scored')
  }
}

const SETTINGS = { tasks: ['chain_sum', 'gcd'], complexity_mode: 'curriculum', batch_size: 8 }

async function begin(run: string): Promise<void> {
  await world.call('PUT', `/runs/${run}`, SETTINGS)
  await feed(world, run, await items(world, run, 8), 0.5)
  await feed(world, run, await items(world, run, 6), 1)
}

describe('a run goes on elsewhere as it would have gone on here', () => {
  it('under the same name or another: the next items, the difficulties, what is counted', async () => {
    await begin('here')
    const checkpoint = await take(world, 'here')
    for (const name of ['here', 'there']) {
      const restored = await empty.call('PUT', `/runs/${name}/checkpoint`, checkpoint)
      expect(restored).toMatchObject({ status: 200, body: { run: name, forgotten: { buffered_groups: 0 } } })
      const again = await take(empty, name)
      const { run: _run, created_at: _at, ...rest } = checkpoint
      const { position: _a, open: _b, ...sequence } = again.sequence
      expect({ ...again, sequence }).toMatchObject({ ...rest, sequence })
    }
    const next = await takeInOrder(world, 'here', 80)
    expect(ids(await takeInOrder(empty, 'here', 80))).toEqual(ids(next))
    const there = await takeInOrder(empty, 'there', 80)
    expect(ids(there)).toEqual(ids(next))
    const takeStep = async (at: World, run: string) =>
      (await at.call('POST', '/items', { run, step: 1000, count: 80 }, { prefer: 'wait=60' })).body.items
    expect(ids(await takeStep(empty, 'there'))).toEqual(ids(await takeStep(world, 'here'))) // more than are made ahead
    const quick = next.slice(0, 8)
    await feed(world, 'here', quick, 0)
    await feed(empty, 'there', quick, 0)
    expect((await view(empty, 'there')).tasks).toMatchObject(
      Object.fromEntries(
        Object.entries<{ difficulty: number; accuracy: number }>((await view(world, 'here')).tasks).map(
          ([task, { difficulty, accuracy }]) => [task, { difficulty, accuracy }],
        ),
      ),
    )
  })

  it('where the sampling follows the model: what was drawn before it learned more stays drawn', async () => {
    const [run, tasks] = ['learned', ['chain_sum', 'gcd', 'leg_counting']]
    await world.call('PUT', `/runs/${run}`, { tasks, sampling: 'learnability', min_trained_tokens: 0 })
    const first = await items(world, run, 20)
    const created = await world.features.runs.runs.require(run)
    const { openPositions: open, itemBodies: bodies } = createRunKeys(world.platform.keys).forRun(run, created.epoch)
    const { redis, producer } = world.platform
    await until(
      async () => {
        await schedulePrefetch(producer, created) // as the next request does: a job that is just ending makes no more
        return (await redis.zcard(open)) - (await redis.hlen(bodies))
      },
      (missing) => missing === 0,
    )
    await feed(
      world,
      run,
      first.filter(({ task }) => task !== 'gcd'),
      0,
    )
    await empty.call('PUT', `/runs/${run}/checkpoint`, await take(world, run))
    expect(ids(await takeInOrder(empty, run, 60))).toEqual(ids(await takeInOrder(world, run, 60)))
  })

  it('where the sampling follows the model: a rewind keeps the share of a drawn task to the last digit', async () => {
    const url = '/runs/drawn'
    await world.call('PUT', url, { tasks: ['chain_sum', 'gcd', 'leg_counting'], sampling: 'learnability' })
    await takeInOrder(world, 'drawn', 1)
    await world.call('POST', `${url}/steps`, { step: 0 })
    const [last] = await takeInOrder(world, 'drawn', 1)
    expect((await world.call('POST', `${url}/rewind`, { step: 0 })).status).toBe(200)
    expect((await take(world, 'drawn')).sequence.drawn?.[0]).toEqual({ position: 1, task: last?.task, share: 1 / 3 })
  })

  it('in the same order: what is ready first waits for what comes before it', async () => {
    await begin('ordered')
    const node = await openWorld({}) // without workers: nothing is made but what the test makes
    try {
      await node.call('PUT', '/runs/ordered/checkpoint', await take(world, 'ordered'))
      const { redis, keys } = node.platform
      const { runs } = node.features.runs
      const run = await runs.require('ordered')
      const { openPositions, positionStates } = createRunKeys(keys).forRun(run.name, run.epoch)
      const [first = '', second] = await redis.zrange(openPositions, '0', '1')
      const positions = new PositionRepository(redis, keys)
      const scope = { kind: 'open' as const, prefetchTarget: 0 }
      await positions.store(run, scope, { position: Number(second), task: 'gcd', difficulty: null, body: '{}' })
      const unmade = { opened: redisNow() + 60_000, claimed_until: 0, attempts: 0 } // however long the test has taken
      await redis.hset(positionStates, first, JSON.stringify(unmade))
      const options = { isFinal: false, prefetchTarget: 0, leaseMs: 1000, maxAhead: null }
      expect(await positions.take(run, 1, options)).toMatchObject({ items: [], prefetchedCount: 1 })
      expect(await positions.take(run, 1, { ...options, isFinal: true })).toMatchObject({
        items: [{ difficulty: null }],
      })
    } finally {
      await node.close()
    }
  })

  it('a trainer that goes back and sends equal groups again is served like new', async () => {
    await begin('back')
    const checkpoint = await take(world, 'back')
    const first = await items(world, 'back', 4)
    await feed(world, 'back', first, 0.5)
    const { curriculum, curriculum_history } = await take(world, 'back')
    expect(curriculum_history.length).toBeGreaterThan(checkpoint.curriculum_history.length)
    const restored = await world.call('PUT', '/runs/back/checkpoint', checkpoint)
    expect(restored).toMatchObject({
      status: 200,
      body: { forgotten: { buffered_groups: expect.toSatisfy((n) => n > 0) } },
    })
    expect((await view(world, 'back')).progress.buffered_groups).toBe(0)
    const again: string[] = []
    await until(
      async () => again.push(...ids(await items(world, 'back', 4))), // what is made late on a busy machine comes later
      () => ids(first).every((id) => again.includes(id)),
    )
    await feed(world, 'back', first, 0.5)
    expect((await view(world, 'back')).progress.buffered_groups).toBe(4)
    const learned = await take(world, 'back')
    expect(learned.curriculum).toEqual(curriculum)
    expect(learned.curriculum_history).toHaveLength(curriculum_history.length)
  })

  it('one whose versions are times in microseconds: its figures are kept, and it can be restored', async () => {
    const version = 1_795_369_494_088_123
    const settings = { tasks: ['gcd'], group_size: 2, batch_size: 2, drop_equal_scores: false, min_trained_tokens: 0 }
    await world.call('PUT', '/runs/micro', settings)
    const [item] = await items(world, 'micro', 1)
    const rollouts = [{ completion: 'a' }, { completion: 'b' }]
    const posted = { run: 'micro', item_id: item?.id, group_id: 'g', policy_version: version, rollouts }
    expect((await world.call('POST', '/rollouts', posted, { prefer: 'wait=20' })).body.status).toBe('scored')
    expect((await world.call('POST', '/runs/micro/batches', { step: version })).status).toBe(200)
    const metrics = await world.app.inject({ method: 'GET', url: '/runs/micro/metrics' })
    expect(JSON.parse(metrics.body)).toMatchObject({ step: version, groups: 1 })
    expect((await empty.call('PUT', '/runs/micro/checkpoint', await take(world, 'micro'))).status).toBe(200)
  })

  it('items of a step that were chosen before the checkpoint are the same after it', async () => {
    await world.call('PUT', '/runs/stepped', SETTINGS)
    const ask = { run: 'stepped', step: 3, count: 6 }
    const before = (await world.call('POST', '/items', ask, { prefer: 'wait=30' })).body.items
    const checkpoint = await take(world, 'stepped')
    await empty.call('PUT', '/runs/stepped/checkpoint', checkpoint)
    expect((await empty.call('POST', '/items', ask, { prefer: 'wait=30' })).body.items).toEqual(before)
  })
})

describe('what cannot be restored', () => {
  let checkpoint: Checkpoint
  beforeAll(async () => {
    await begin('source')
    checkpoint = await take(world, 'source')
  })

  it('is refused: another engine’s, a misshapen one, of unknown tasks', async () => {
    const put = (body: object) => world.call('PUT', '/runs/other/checkpoint', body)
    expect(await put({ ...checkpoint, engine: '0.0.1' })).toMatchObject({ body: { code: 'engine_version_mismatch' } })
    expect(await put({ ...checkpoint, version: checkpoint.version + 1 })).toMatchObject({
      body: { code: 'invalid_request' },
    })
    expect(await put({ ...checkpoint, settings: { tasks: ['nothing'] } })).toMatchObject({
      body: { code: 'unknown_task' },
    })
    // Fields that the run itself has, and what no script could count with, would break the run for good.
    for (const counters of [{ epoch: 7 }, { settings: 1 }, { groups: 0.5 }, { format_faults: { '\udb17': 1 } }]) {
      expect(await put({ ...checkpoint, counters })).toMatchObject({ body: { code: 'invalid_request' } })
    }
    // No Unicode text: it could be shown to nobody.
    expect(await put({ ...checkpoint, tasks: { '\udb17': { groups: 1 } } })).toMatchObject({
      body: { code: 'invalid_request' },
    })
    for (const level of ['0.3', null, Number.NaN]) {
      const curriculum = { leg_counting: { level, scores: [] } }
      expect(await put({ ...checkpoint, curriculum })).toMatchObject({ body: { code: 'invalid_request' } })
      expect(await put({ ...checkpoint, recent_accuracies: { gcd: [level] } })).toMatchObject({
        body: { code: 'invalid_request' },
      })
    }
    expect(await world.call('GET', '/runs/other')).toMatchObject({ status: 404 })
    expect(await world.call('GET', '/runs/never/checkpoint')).toMatchObject({ body: { code: 'unknown_run' } })
  })

  it('a checkpoint of another version is refused with a message that says so', async () => {
    const old = { engine: '0.1.25', run: 'old', origin: 'old', counters: { groups: 1 } }
    for (const version of [1, 4]) {
      const { status, body } = await world.call('PUT', '/runs/old/checkpoint', { ...old, version })
      expect(status).toBe(400)
      expect(body.detail).toContain(`version ${version}`)
    }
  })

  it('long lists are read in pages, and none of their entries is lost', async () => {
    const leases = Array.from({ length: MAX_LEASES_AT_ONCE + 2500 }, (_, k) => ({
      position: 1000 + k,
      until: 4e12 + k,
      task: 'gcd',
      difficulty: null,
    }))
    const hashOf = (k: number) => Buffer.from(String(k).padStart(8)).toString('base64url')
    const questions = Object.fromEntries(Array.from({ length: 2500 }, (_, k) => [hashOf(k), 1000 + k]))
    const requested = Array.from({ length: MAX_LEASES_AT_ONCE + 500 }, (_, k) => 20_000 + k)
    const [point] = checkpoint.curriculum_history
    const history = Array.from({ length: 2500 }, (_, step) => ({ ...point, step }))
    const { status } = await empty.call('PUT', '/runs/long/checkpoint', {
      ...checkpoint,
      curriculum_history: history,
      sequence: { ...checkpoint.sequence, position: 20_000, leases, questions, requested },
    })
    expect(status).toBe(200)
    const again = await take(empty, 'long')
    expect(again.sequence.leases).toEqual(leases)
    expect(again.sequence.questions).toEqual(questions)
    expect(again.sequence.requested).toEqual(requested)
    expect(again.curriculum_history).toEqual(history)
  })

  it('a document has names of its own, and no field of Redis', async () => {
    const { counters, tasks, step_sums, curriculum } = checkpoint
    expect(counters).toMatchObject({ groups: 14, scored_groups: 14, completed: 14 })
    const [sums] = Object.values(tasks)
    expect(sums).toMatchObject({ groups: expect.any(Number), length_buckets: expect.any(Object) })
    expect(step_sums[0]?.sums.task_scored).toMatchObject({ gcd: expect.any(Number) })
    for (const { level } of Object.values(curriculum)) expect(level).toBeTypeOf('number')
    const names = JSON.stringify([counters, tasks, step_sums]).match(/"[^"]+":/g)
    expect(names?.filter((name) => !/^"\w+":$/.test(name))).toEqual([])
  })

  it('one that asks for positions without end holds up nobody', async () => {
    await world.call('PUT', '/runs/far', { ...SETTINGS, complexity_mode: 'none' })
    await items(world, 'far', 1)
    const { sequence, ...rest } = await take(world, 'far')
    const far = (position: number, prefetch_target: number) =>
      empty.call('PUT', '/runs/far/checkpoint', {
        ...rest,
        counters: { ...rest.counters, prefetch_target },
        sequence: { ...sequence, position, open: [] },
      })
    expect(await far(Number.MAX_SAFE_INTEGER - 1, 0)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(await far(0, Number.MAX_SAFE_INTEGER - 1)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(await far(2 ** 47, 2 ** 47)).toMatchObject({ status: 200 })
    expect(await items(empty, 'far', 3)).toHaveLength(3)
    expect((await take(empty, 'far')).sequence.open.length).toBeLessThanOrEqual(2000)
  })

  it('settings that are null have their default, as in PUT /runs/{run}', async () => {
    const nulls = { group_size: null, eval_seed: null, system_prompt: null }
    const { status } = await world.call('PUT', '/runs/nulls-restored/checkpoint', { ...checkpoint, settings: nulls })
    expect(status).toBeLessThan(300)
    const { body } = await world.call('GET', '/runs/nulls-restored')
    expect(body.settings).toMatchObject({ group_size: 16, eval_seed: 123, system_prompt: null })
  })
})
