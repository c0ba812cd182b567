import { Batch, type BatchGroup, BatchRequest } from '@reasoning-gym-server/contract/batch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBatchKeys } from '../../src/features/batches/repository.ts'
import { backlogRecord } from '../../src/features/runs/records.ts'
import { openWorld, until, type World } from '../world.ts'

let world: World
let itemId: string

beforeAll(async () => {
  world = await openWorld({ worker: true })
  itemId = (await world.call('POST', '/items', { task: 'leg_counting', seed: 42 })).body.items[0].id
})
afterAll(() => world.close())

const right = { completion: '<answer>100</answer>' }
const wrong = { completion: '<answer>1</answer>' }
const broken = { completion: '', finish_reason: 'error' }

/** Posts groups named `g0`, `g1`, … one after another, and sees that each is scored. */
async function post(run: string, groups: object[], from = 0): Promise<void> {
  for (const [k, group] of groups.entries()) {
    const body = { run, item_id: itemId, group_id: `g${from + k}`, ...group }
    const { status, body: answer } = await world.call('POST', '/rollouts', body, { prefer: 'wait=20' })
    expect([status, answer.status, answer.destination]).toEqual([200, 'scored', 'buffered'])
  }
}
const pairs = (n: number, more: object = {}) => Array.from({ length: n }, () => ({ rollouts: [right, wrong], ...more }))
const put = (run: string, settings: object) => world.call('PUT', `/runs/${run}`, settings)
const take = (run: string, body: object, headers = {}) => world.call('POST', `/runs/${run}/batches`, body, headers)
const read = (run: string, step: number, query = '') => world.call('GET', `/runs/${run}/batches/${step}${query}`)
const ack = (run: string, step: number, body?: object) => world.call('POST', `/runs/${run}/batches/${step}/ack`, body)
const ids = (batch: { groups: BatchGroup[] }) => batch.groups.map(({ group_id }) => group_id)
const destination = async (run: string, group: string) =>
  (await world.call('GET', `/rollouts/${group}?run=${run}`)).body.destination

it('a batch holds the oldest whole groups, at least batch_size rollouts, with what was sent and what became of it', async () => {
  await put('plain', { batch_size: 3, min_trained_tokens: 0 })
  const sent = [
    { ...right, tokens: [1, 2, 3], masks: [-100, 2, 3], logprobs: [null, -0.25, -1.5], arrays: { refs: [0.1, 0.2] } },
    { ...wrong, extra: { mine: [true] } },
  ]
  await post('plain', [{ rollouts: sent, policy_version: 4, extra: 'x' }, ...pairs(2)])
  const { status, body } = await take('plain', { step: 5, policy_version: 6 })
  expect(status).toBe(200)
  expect(Batch.parse(body)).toEqual(body)
  expect(ids(body)).toEqual(['g0', 'g1'])
  expect(body).toMatchObject({
    run: 'plain',
    step: 5,
    rollouts: 4,
    totals: { groups: 2, rollouts: 4 },
    lag: { min: 2, mean: 2, max: 2 },
    metrics: { 'reward/mean': 0.5, 'task/leg_counting/reward': 0.5, 'fault/no_answer': 0, 'unscored/frac': 0 },
  })
  const [first] = body.groups
  expect(first).toMatchObject({
    item_id: itemId,
    task: 'leg_counting',
    difficulty: null,
    policy_version: 4,
    extra: 'x',
  })
  expect(first.rollouts).toEqual(sent)
  const looked = (await world.call('GET', '/rollouts/g0?run=plain')).body
  expect(first.verdicts).toEqual(looked.verdicts)
  for (const name of ['mean_reward', 'std_reward', 'voters', 'percent_correct'])
    expect(first[name]).toEqual(looked[name])
})

it('a large group is delivered as it was sent, though its run was changed elsewhere while it came', async () => {
  const list = (of: (k: number) => number | null) => Array.from({ length: 5000 }, (_, k) => of(k))
  const tokens = list((k) => (k * 7919) % 150_000)
  const masks = list((k) => (k < 100 ? -100 : (tokens[k] ?? 0)))
  const logprobs = list((k) => (k < 100 ? null : Math.fround(-k / 7)))
  const typed = {
    dtype: 'float32',
    data: Buffer.from(Float32Array.from({ length: 5000 }, (_, k) => -k).buffer).toString('base64'),
  }
  const sent = [
    { ...right, tokens, masks, logprobs, arrays: { tokens: logprobs }, extra: { masks } },
    { ...wrong, tokens, logprobs: list((k) => -(k + 1) / 1000), extra: tokens.slice(0, 200) },
    { ...wrong, tokens: typed, masks: typed, logprobs: typed },
  ]
  const plain = list((k) => -k).map((x) => (x ?? 0) + 0)
  const other = await openWorld({ prefix: world.prefix })
  try {
    await put('large', { batch_size: 2 })
    await post('large', pairs(1))
    await other.call('PUT', '/runs/large', { batch_size: 5 }) // so that the group is offered twice
    await post('large', [{ rollouts: sent }], 1)
    const { body } = await take('large', { step: 0 })
    const [, group] = body.groups
    expect(group.rollouts).toEqual([sent[0], sent[1], { ...wrong, tokens: plain, masks: plain, logprobs: plain }])
    expect((await read('large', 0, '?arrays=base64')).body.groups[1].rollouts[2]).toEqual(sent[2])
    await post('large', [{ rollouts: sent }], 1) // once more: it is known
    expect((await world.call('GET', '/runs/large')).body.progress.groups).toBe(2)
  } finally {
    await other.close()
  }
})

it('the same step gives the same batch, to many at once and to a server that has just come up', async () => {
  await put('same', { batch_size: 4 })
  await post('same', pairs(5))
  const other = await openWorld({ prefix: world.prefix })
  try {
    const asks = Array.from({ length: 12 }, (_, k) =>
      (k % 2 ? world : other).call('POST', '/runs/same/batches', { step: 1 }),
    )
    const batches = (await Promise.all(asks)).map(({ body }) => body)
    for (const batch of batches) expect(batch).toEqual(batches[0])
    expect(ids(batches[0])).toEqual(['g0', 'g1'])
    expect(ids((await other.call('POST', '/runs/same/batches', { step: 2 })).body)).toEqual(['g2', 'g3'])
    expect((await other.call('GET', '/runs/same/batches/1')).body).toEqual(batches[0])
  } finally {
    await other.close()
  }
})

it('what is missing is said, waited for, and lowered by min_rollouts and final', async () => {
  await put('short', { batch_size: 6 })
  await post('short', pairs(1))
  const { status, headers } = await take('short', { step: 1 })
  expect([status, headers['x-batch-missing'], headers['x-batch-queued']]).toEqual([204, '4', '0'])
  const run = (await world.call('GET', '/runs/short')).body
  expect(run.batch).toEqual({ step: 0, wanted: 6, buffered: 2, queued: 0, missing: 4 })
  expect(run.progress.step).toBeNull()
  const waiting = take('short', { step: 1 }, { prefer: 'wait=30' })
  await post('short', pairs(2), 1)
  expect((await waiting).body.rollouts).toBe(6)
  await post('short', pairs(1), 3)
  expect((await take('short', { step: 2, min_rollouts: 3 })).headers['x-batch-missing']).toBe('1')
  expect((await take('short', { step: 2, min_rollouts: 2 })).body.rollouts).toBe(2)
  expect((await take('short', { step: 3, min_rollouts: 1 })).status).toBe(204)
  await post('short', pairs(1), 4)
  expect((await take('short', { step: 3, final: true })).body.rollouts).toBe(2)
  expect((await world.call('GET', '/runs/short')).body).toMatchObject({ progress: { step: 3 }, batch: { step: 4 } })
})

describe('final', () => {
  /** What is posted meanwhile stays queued. */
  async function withoutWorkers(use: () => Promise<void>): Promise<void> {
    await world.stopWorkers()
    await use().finally(world.startWorker)
  }
  const queue = (run: string, group_id: string) =>
    world.call('POST', '/rollouts', { run, item_id: itemId, group_id, rollouts: [right, wrong] })

  it('gives every rank the same answer: an empty batch is composed too, and a later group is for a later step', async () => {
    await put('empty', { batch_size: 4 })
    const first = await take('empty', { step: 0, rank: 0, ranks: 2, final: true })
    expect([first.status, Batch.parse(first.body)]).toEqual([200, first.body])
    expect(first.body).toMatchObject({
      rollouts: 0,
      totals: { groups: 0, rollouts: 0, trained_rollouts: 0, trained_tokens: 0 },
      lag: { min: null, mean: null, max: null },
      metrics: { 'batch/groups': 0 },
      groups: [],
    })
    await post('empty', pairs(1))
    const second = await take('empty', { step: 0, rank: 1, ranks: 2, final: true })
    expect([second.status, second.body]).toEqual([200, first.body])
    expect((await read('empty', 0)).body).toEqual(first.body)
    for (const rank of [0, 1]) await ack('empty', 0, { rank, ranks: 2 })
    expect((await take('empty', { step: 0, final: true })).body.code).toBe('batch_acknowledged')
    expect(ids((await take('empty', { step: 1, final: true })).body)).toEqual(['g0'])
    const { progress } = (await world.call('GET', '/runs/empty')).body
    expect(progress).toMatchObject({ step: 1, buffered_groups: 0 })
  })

  it('drops groups that are too old, though nothing else is left', async () => {
    await put('final-stale', { batch_size: 2, max_policy_lag: 0 })
    await post('final-stale', pairs(1, { policy_version: 3 }))
    expect((await take('final-stale', { step: 4, final: true })).body.totals.groups).toBe(0)
    expect(await destination('final-stale', 'g0')).toBe('stale')
    expect((await world.call('GET', '/runs/final-stale')).body.state.is).toBe('all_stale')
  })

  it('waits for the groups that are queued, for as long as each caller says', async () => {
    await put('queue', { batch_size: 4 })
    const waiting: ReturnType<typeof take>[] = []
    await withoutWorkers(async () => {
      await queue('queue', 'a')
      expect((await take('queue', { step: 0, final: true })).body.rollouts).toBe(0)
      expect((await take('queue', { step: 1, final: true }, { prefer: 'wait=1' })).body.rollouts).toBe(0)
      for (let rank = 0; rank < 3; rank++) {
        const ask = { step: 2, rank, ranks: 3, final: true, balance: 'rollouts' }
        waiting.push(take('queue', ask, { prefer: 'wait=60' }))
      }
    })
    const shares = (await Promise.all(waiting)).map(({ body }) => body)
    expect(shares.map(({ totals }) => totals.groups)).toEqual([1, 1, 1])
    expect(shares.map(({ rollouts }) => rollouts)).toEqual([0, 1, 1])
  })

  it('a batch that is full does not wait for more', async () => {
    await put('full', { batch_size: 2 })
    await post('full', pairs(1))
    await withoutWorkers(async () => {
      await queue('full', 'later')
      expect(ids((await take('full', { step: 0, final: true }, { prefer: 'wait=60' })).body)).toEqual(['g0'])
    })
  })

  it('a server that shuts down composes at once, rather than tell this rank something else than the next', async () => {
    const closing = await openWorld() // without a worker
    try {
      await closing.call('PUT', '/runs/closing', { batch_size: 2 })
      await closing.call('POST', '/rollouts', { run: 'closing', item_id: itemId, rollouts: [right, wrong] })
      const ask = { step: 0, final: true }
      const waiting = closing.call('POST', '/runs/closing/batches', ask, { prefer: 'wait=60' })
      closing.platform.notifications.close()
      const { status, body } = await waiting
      expect([status, body.rollouts]).toEqual([200, 0])
      expect((await closing.call('GET', '/runs/closing/batches/0')).body).toEqual(body)
    } finally {
      await closing.close()
    }
  })

  it('a caller that leaves while groups are queued composes nothing', async () => {
    await put('left', { batch_size: 2 })
    await withoutWorkers(async () => {
      await queue('left', 'a')
      const leaving = new AbortController()
      const ask = BatchRequest.parse({ step: 0, final: true })
      const { delivery } = world.features.batches
      const asked = delivery.waitForBatch('left', ask, { waitMs: 60_000, signal: leaving.signal })
      leaving.abort()
      expect((await asked).kind).toBe('insufficient')
      expect((await read('left', 0)).body.code).toBe('unknown_batch')
    })
  })
})

it('an acknowledged step is over, and its groups can still be looked at', async () => {
  await put('acked', { batch_size: 2, buffer_max_groups: 1 })
  await post('acked', pairs(1))
  await take('acked', { step: 0 })
  const refused = await world.call('POST', '/rollouts', { run: 'acked', item_id: itemId, rollouts: [right, wrong] })
  expect([refused.status, refused.body.code]).toEqual([429, 'buffer_full'])
  expect((await ack('acked', 0)).body).toEqual({ step: 0, acknowledged: true })
  expect((await ack('acked', 0)).body).toEqual({ step: 0, acknowledged: true })
  const again = await take('acked', { step: 0 })
  expect([again.status, again.body.code]).toEqual([409, 'batch_acknowledged'])
  expect((await read('acked', 0)).body.code).toBe('unknown_batch')
  expect(await destination('acked', 'g0')).toBe('buffered')
  await post('acked', pairs(1), 1)
  expect((await ack('acked', 7)).body.code).toBe('unknown_batch')
})

it('steps stay over when a batch is acknowledged long after 10,000 later ones', async () => {
  await put('long-open', { batch_size: 2 })
  await post('long-open', pairs(1))
  expect((await take('long-open', { step: 0 })).status).toBe(200)
  const { redis, keys } = world.platform
  const [{ epoch }, batchKeys] = [await world.features.runs.runs.require('long-open'), createBatchKeys(keys)]
  const { acknowledgedSteps, backlog } = batchKeys.forRun('long-open', epoch)
  const later = Array.from({ length: 10_000 }, (_, k) => String(k + 3))
  await redis.zadd(acknowledgedSteps, ...later.flatMap((step) => [step, step]))
  await redis.hset(backlog, backlogRecord.constants.acknowledged_below, 3)
  expect((await ack('long-open', 0)).status).toBe(200)
  expect((await take('long-open', { step: 2, final: true })).body.code).toBe('batch_acknowledged')
})

it('a buffer that is full before there is a batch says what to do', async () => {
  await put('stuck', { group_size: 64, batch_size: 64, buffer_max_groups: 1 }) // enough, if groups were as announced
  await post('stuck', pairs(1))
  const why = async () => (await world.call('GET', '/runs/stuck')).body.state
  expect(await why()).toMatchObject({ is: 'buffer_full', why: expect.stringContaining('fewer than batch_size (64)') })
  await take('stuck', { step: 0, final: true })
  expect((await why()).why).toBe('1 groups wait for a trainer, as many as buffer_max_groups allows.')
})

it('with ranks a batch is acknowledged when each has said so, however often one says it', async () => {
  await put('ranks', { batch_size: 2 })
  await post('ranks', pairs(1))
  await take('ranks', { step: 1 })
  expect((await ack('ranks', 1, { rank: 0, ranks: 2 })).body.acknowledged).toBe(false)
  expect((await ack('ranks', 1, { rank: 0, ranks: 2 })).body.acknowledged).toBe(false)
  expect((await read('ranks', 1)).status).toBe(200)
  expect((await ack('ranks', 1, { rank: 1, ranks: 2 })).body.acknowledged).toBe(true)
})

it('at most eight steps wait for their acknowledgement; those that are open are given all the same', async () => {
  await put('open', { batch_size: 2 })
  await post('open', pairs(9))
  for (let step = 0; step < 8; step++) expect((await take('open', { step })).status).toBe(200)
  const ninth = await take('open', { step: 8 })
  expect([ninth.status, ninth.body.code]).toEqual([409, 'too_many_open_batches'])
  expect((await take('open', { step: 3 })).status).toBe(200)
  await ack('open', 3)
  expect((await take('open', { step: 8 })).status).toBe(200)
})

it('groups that are too old are dropped when a batch is composed, counted, and no longer buffered', async () => {
  await put('stale', { batch_size: 2, max_policy_lag: 1 })
  const old = { rollouts: [{ ...right, policy_version: 7 }, wrong], policy_version: 9 }
  await post('stale', [old, ...pairs(1, { policy_version: 9 }), ...pairs(1)])
  const { body } = await take('stale', { step: 3, policy_version: 10 })
  expect(ids(body)).toEqual(['g1'])
  expect(body.lag).toEqual({ min: 1, mean: 1, max: 1 })
  expect(await destination('stale', 'g0')).toBe('stale')
  expect(ids((await take('stale', { step: 400 })).body)).toEqual(['g2'])
  const run = (await world.call('GET', '/runs/stale')).body
  expect(run.progress).toMatchObject({ stale_groups: 1, buffered_groups: 0 })
})

it.each(['omit', 'mask'])('an unscored rollout is never a reward of 0: %s', async (unscored_rollouts) => {
  const run = `unscored-${unscored_rollouts}`
  await put(run, { batch_size: 3, unscored_rollouts })
  const rollouts = [right, broken, wrong]
  await post(run, [{ rollouts }])
  const omits = unscored_rollouts === 'omit'
  expect((await world.call('GET', `/runs/${run}`)).body.batch.buffered).toBe(omits ? 2 : 3)
  const { status, body } = await take(run, { step: 1 })
  if (!omits) {
    const [group] = body.groups
    expect(group.rollouts).toEqual(rollouts)
    expect(group.verdicts[1]).toMatchObject({ status: 'unscored', reward: null, score: null })
    expect(group.verdicts[1].advantage).toBe(0)
    expect(body.totals).toMatchObject({ rollouts: 3, trained_rollouts: 2 })
    return
  }
  expect(status).toBe(204)
  await post(run, pairs(1), 1)
  const whole = (await take(run, { step: 1 })).body
  expect(whole.groups[0]).toMatchObject({ indices: [0, 2], rollouts: [right, wrong] })
  expect(whole.groups[0].verdicts.map(({ reward }: { reward: number }) => reward)).toEqual([1, 0])
  expect(whole.totals).toMatchObject({ rollouts: 4, trained_rollouts: 4 })
})

describe('rank shares', () => {
  const all = async (run: string, step: number, ranks: number, more: object = {}) => {
    const asks = Array.from({ length: ranks }, (_, rank) => take(run, { step, rank, ranks, ...more }))
    return (await Promise.all(asks)).map(({ body }) => body)
  }

  it('by tokens: whole groups, heaviest first to the lightest rank', async () => {
    await put('tokens', { batch_size: 10 })
    const weights = [100, 20, 60, 30, 30]
    await post(
      'tokens',
      weights.map((length_tokens) => ({
        rollouts: [
          { ...right, length_tokens },
          { ...wrong, length_tokens: 0 },
        ],
      })),
    )
    const shares = await all('tokens', 1, 2)
    expect(shares.map(ids)).toEqual([
      ['g0', 'g1'],
      ['g2', 'g3', 'g4'],
    ])
    expect(shares.map(({ rollouts }) => rollouts)).toEqual([4, 6])
    for (const share of shares) expect(share.totals).toMatchObject({ groups: 5, rollouts: 10, trained_tokens: 240 })
    expect((await read('tokens', 1, '?rank=1&ranks=2')).body).toEqual(shares[1])
  })

  it('by tokens with more ranks than groups: groups are split, so that no rank is left without', async () => {
    await put('many', { batch_size: 10 })
    await post('many', pairs(5))
    const shares = await all('many', 1, 8)
    expect(shares.map(({ rollouts }) => rollouts)).toEqual([1, 1, 1, 2, 1, 1, 1, 2])
    expect(shares.flatMap(({ groups }) => groups.flatMap((group: BatchGroup) => group.indices))).toHaveLength(10)
    for (const { groups } of await all('many', 1, 5)) expect(groups[0].indices).toEqual([0, 1])
    expect((await all('many', 1, 16)).filter(({ rollouts }) => rollouts === 0)).toHaveLength(6)
  })

  it('by rollouts: equal numbers, groups split if need be; the first call decides', async () => {
    await put('rollouts', { batch_size: 6 })
    await post('rollouts', [{ rollouts: [right, wrong, right, wrong] }, ...pairs(1)])
    const shares = await all('rollouts', 1, 4, { balance: 'rollouts' })
    expect(shares.map(({ rollouts }) => rollouts)).toEqual([1, 2, 1, 2])
    const places = shares.flatMap(({ groups }) =>
      groups.flatMap(({ group_id, indices }: BatchGroup) => indices.map((k) => `${group_id}/${k}`)),
    )
    expect(places).toEqual(['g0/0', 'g0/1', 'g0/2', 'g0/3', 'g1/0', 'g1/1'])
    expect(await all('rollouts', 1, 4)).toEqual(shares)
    expect(shares[1].groups[0]).toMatchObject({ indices: [1, 2], rollouts: [wrong, right] })
    expect(shares[1].groups[0].verdicts.map(({ reward }: { reward: number }) => reward)).toEqual([0, 1])
  })
})

it('what cannot be read is refused by name', async () => {
  await put('strict', { batch_size: 2 })
  const refusals = await Promise.all([
    take('strict', { step: 1, rank: 0 }),
    take('strict', { step: 1, rank: 2, ranks: 2 }),
    take('strict', { step: -1 }),
    take('strict', { steps: 1 }),
    read('strict', 1, '?rank=0'),
    ack('strict', 1, { ranks: 2 }),
  ])
  for (const { status, body } of refusals) expect([status, body.code]).toEqual([400, 'invalid_request'])
  expect((await take('never-made', { step: 1 })).body.code).toBe('unknown_run')
  expect((await read('strict', 1)).body.code).toBe('unknown_batch')
})

it('a waiting call ends with its time, and not before what it waits for', async () => {
  await put('late', { batch_size: 2 })
  expect((await take('late', { step: 1 }, { prefer: 'wait=1' })).status).toBe(204)
  await until(
    async () => (await take('late', { step: 1 })).status,
    (status) => status === 204,
  )
})

it('versions and lengths in microseconds are large, and change neither batches nor what a checkpoint may have', async () => {
  const large = 1_795_000_000_000_123
  for (const max_policy_lag of [null, 2]) {
    const run = `large-${max_policy_lag}`
    await put(run, { batch_size: 60, group_size: 1, min_trained_tokens: 0, max_policy_lag })
    const rollouts = [{ ...right, length_tokens: large }]
    const groups = Array.from({ length: 60 }, (_, k) => ({
      item_id: itemId,
      group_id: `g${k}`,
      policy_version: large - 3,
      rollouts,
    }))
    expect((await world.call('POST', '/rollouts', { run, groups }, { prefer: 'wait=20' })).status).toBe(200)
    expect((await take(run, { step: large, policy_version: large })).status).toBe(max_policy_lag === null ? 200 : 204)
    expect((await take(run, { step: large + 1, policy_version: large, final: true })).body.groups).toEqual([])
    const more = groups.map((group) => ({ ...group, group_id: `${group.group_id}-more` })) // of the next step
    expect((await world.call('POST', '/rollouts', { run, groups: more }, { prefer: 'wait=20' })).status).toBe(200)
    const { body: checkpoint } = await world.call('GET', `/runs/${run}/checkpoint`)
    expect((await world.call('PUT', `/runs/${run}-back/checkpoint`, checkpoint)).status).toBe(200)
  }
})
