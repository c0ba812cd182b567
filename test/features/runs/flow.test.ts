/** The flow of a run says which side waits, how stale groups become, and what would raise the rate of batches. */

import type { Item } from '@reasoning-gym-server/contract/item'
import { seededRandom } from '@reasoning-gym-server/task-tools/seeded-random'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, takeItems, type World } from '../../world.ts'
import { type QueueParams, simulateFlow, simulateRate } from './flow-simulation.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
})
afterAll(() => world.close())

const flowOf = async (run: string) => (await world.call('GET', `/runs/${run}/flow`)).body
const batchOf = (run: string, step: number) => world.call('POST', `/runs/${run}/batches`, { step })
const ack = (run: string, step: number) => world.call('POST', `/runs/${run}/batches/${step}/ack`)
const take = async (run: string, count: number) => (await world.call('POST', '/items', { run, count })).body
const post = (run: string, item_id: string, group_id: string, version: number) => {
  const rollouts = [
    { completion: 'a', length_tokens: 30 },
    { completion: 'b', length_tokens: 10, finish_reason: 'length' },
  ]
  const group = { run, item_id, group_id, policy_version: version, rollouts }
  return world.call('POST', '/rollouts', group, { prefer: 'wait=60' })
}

it('the scripts count what the flow of a run is computed from', async () => {
  const settings = { tasks: ['gcd'], group_size: 2, batch_size: 4, drop_equal_scores: false, min_trained_tokens: 0 }
  await world.call('PUT', '/runs/flows', { ...settings, max_groups_ahead: 4 })
  expect(await flowOf('flows')).toMatchObject({ batches: 0, in_flight: null, advice: { kind: 'no_data' } })
  const items: { id: string }[] = []
  for (let step = 0; step < 3; step++) {
    expect((await batchOf('flows', step)).status).toBe(204)
    while (items.length < 4) items.push(...((await take('flows', 4 - items.length)).items ?? []))
    expect((await take('flows', 1)).waiting_for).toBe('trainer')
    for (const k of [0, 1]) await post('flows', items.shift()?.id ?? '', `${step}-${k}`, Math.max(0, step - 1))
    expect((await batchOf('flows', step)).status).toBe(200)
    expect((await ack('flows', step)).status).toBe(200)
  }
  const flow = await flowOf('flows')
  expect(flow).toMatchObject({
    batches: 2,
    in_flight: { leased: 2, queued: 0, buffered: 0 },
    batched_share: 1,
    staleness: { measured: 1, predicted: 1 },
    untrained_tokens: 0.25,
  })
  expect(flow.trainer_wait_s).toBeGreaterThan(0)
  expect(flow.trainer_waiting).toBeCloseTo((2 * flow.trainer_wait_s) / flow.seconds, 6)
  expect(flow.generators_waiting).toBeGreaterThan(0)
  expect(flow.rates.batches).toBeCloseTo(2 / flow.seconds, 6)

  await world.call('PUT', '/runs/full', { ...settings, batch_size: 2, buffer_max_groups: 1 })
  const [{ id }] = (await takeItems(world, 'full', 1)) as [Item]
  for (let step = 0; step < 2; step++) {
    expect((await post('full', id, `${step}`, step)).status).toBe(200)
    expect((await post('full', id, `${step + 1}`, step)).status).toBe(429)
    await batchOf('full', step)
    await ack('full', step)
  }
  expect((await flowOf('full')).generators_waiting).toBeGreaterThan(0)
})

it('groups that are dropped as stale are compared with those that are kept', async () => {
  const settings = { tasks: ['gcd'], group_size: 2, batch_size: 4, drop_equal_scores: false, min_trained_tokens: 0 }
  await world.call('PUT', '/runs/late', {
    ...settings,
    max_policy_lag: 1,
    complexity_mode: 'fixed',
    difficulty: 0.25,
  })
  const [item] = (await takeItems(world, 'late', 1)) as [Item]
  const long = { completion: 'a', length_tokens: 90 }
  const postLong = (group_id: string, policy_version: number, rollouts = [long, long]) =>
    world.call(
      'POST',
      '/rollouts',
      { run: 'late', item_id: item.id, group_id, policy_version, rollouts },
      { prefer: 'wait=60' },
    )
  for (const id of ['a', 'b']) await post('late', item.id, id, 0)
  expect((await batchOf('late', 0)).status).toBe(200)
  expect((await flowOf('late')).dropped_groups).toBeNull()
  await postLong('c', 0)
  await post('late', item.id, 'd', 1)
  expect((await batchOf('late', 2)).status).toBe(204) // c is dropped, and d waits for another
  await post('late', item.id, 'e', 2)
  expect((await batchOf('late', 2)).status).toBe(200)
  const means = {
    kept: { groups: 4, difficulty: item.difficulty, length_tokens: 20, policy_lag: 0.25 },
    dropped: { groups: 1, difficulty: item.difficulty, length_tokens: 90, policy_lag: 2 },
  }
  expect(item.difficulty).toBeGreaterThan(0)
  expect((await flowOf('late')).dropped_groups).toEqual({ ...means, tasks: { gcd: means } })
})

const QUEUES = 200
/** For the rate with and without what the advice says. */
const BATCHES = 200

function* drawQueues(): Generator<QueueParams> {
  const random = seededRandom(7)
  const pick = <T>(...values: [T, ...T[]]): T => values[Math.floor(random() * values.length)] ?? values[0]
  const between = (low: number, high: number) => low * (high / low) ** random()
  for (let seed = 0; seed < QUEUES; seed++) {
    const generators = pick(4, 8, 16, 32)
    const batchGroups = pick(4, 8, 16)
    const signal = pick(0.3, 0.6, 1)
    const generation = between(5, 50)
    // the rates of generators and trainer differ by up to a factor of 4
    const training = (between(0.25, 4) * batchGroups * generation) / (generators * signal)
    const maxAhead = Math.ceil(between(1, 10) * batchGroups + generators * between(0.3, 2))
    const scorers = pick(1, 4)
    const scoring = (pick(0.05, 0.05, 0.05, 2) * scorers * generation) / generators
    yield {
      seed,
      generators,
      generation,
      spread: pick(0.1, 0.5, 1),
      scorers,
      scoring,
      signal,
      batchGroups,
      training,
      maxAhead,
    }
  }
}

/** What the advice says to do, done: the rate of batches must rise. */
function follow(queue: QueueParams, kind: string): QueueParams | undefined {
  switch (kind) {
    case 'add_generators':
      return { ...queue, generators: Math.ceil(queue.generators * 1.5) }
    case 'add_workers':
      return { ...queue, scorers: queue.scorers * 2 }
    case 'more_signal':
      return { ...queue, signal: Math.min(1, queue.signal * 1.5) }
    case 'raise_max_groups_ahead':
      return { ...queue, maxAhead: (queue.maxAhead ?? 0) * 2 }
    case 'speed_up_trainer':
      return { ...queue, training: queue.training / 1.5 }
    default:
      return undefined
  }
}

it('the advice is right and the predicted staleness close in 95 of 100 queues', () => {
  const kinds = new Map<string, number>()
  const wrong: unknown[] = []
  const off: unknown[] = []
  for (const queue of drawQueues()) {
    const { flow, lag } = simulateFlow(queue)
    expect(flow.staleness.measured).toBeCloseTo(lag, 6)
    const { kind } = flow.advice
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    const rate = simulateRate(queue, BATCHES)
    const gainOf = (change: QueueParams) => simulateRate(change, BATCHES) / rate
    const changed = follow(queue, kind)
    const gain = changed
      ? gainOf(changed)
      : Math.max(gainOf(follow(queue, 'add_generators') ?? queue), gainOf(follow(queue, 'speed_up_trainer') ?? queue))
    if (changed ? gain < 1.02 : gain > 1.2) wrong.push([queue, flow, gain])
    const error = Math.abs((flow.staleness.predicted ?? Number.POSITIVE_INFINITY) - lag)
    if (error > Math.max(0.1 * lag, 0.05)) off.push([queue, flow.in_flight, flow.staleness, flow.advice.kind])
  }
  expect(kinds.size).toBeGreaterThan(4)
  expect(wrong.length).toBeLessThanOrEqual(0.05 * QUEUES)
  expect(off.length).toBeLessThanOrEqual(0.05 * QUEUES)
})

it('without a limit of groups ahead, fast generators only make groups staler', () => {
  for (const queue of [...drawQueues()].slice(0, 20)) {
    const { generators, generation, signal, batchGroups } = queue
    const training = (2 * batchGroups * generation) / (generators * signal)
    const { flow } = simulateFlow({ ...queue, training, scoring: 0.01, maxAhead: null })
    expect(flow.advice.kind).toBe('set_max_groups_ahead')
  }
})
