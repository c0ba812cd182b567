import { afterAll, beforeAll, expect, it } from 'vitest'
import { FLEET_GAUGES, PROCESS_METRICS } from '../../../src/platform/metrics/metric-definitions.ts'
import { openWorld, until, type World } from '../../world.ts'
import { type Reading, readMetrics, scrapeText } from './reading.ts'

let world: World
let other: World
const SEED = { task: 'leg_counting', seed: 42 }

beforeAll(async () => {
  world = await openWorld({ worker: true })
  other = await openWorld({ prefix: world.prefix })
})
afterAll(async () => {
  await other.close()
  await world.close()
})

const scrape = async (from: World) => readMetrics(await scrapeText(from))
const sum = ({ samples }: Reading, name: string, labels: Record<string, string> = {}) =>
  samples
    .filter((sample) => sample.name === name && Object.entries(labels).every(([k, v]) => sample.labels[k] === v))
    .reduce((total, { value }) => total + value, 0)

it('exports every documented metric with its type', async () => {
  const { types } = await scrape(world)
  const own = [...types].filter(([name]) => name.startsWith('rgs_'))
  expect(Object.fromEntries(own)).toEqual({
    ...Object.fromEntries(Object.entries(PROCESS_METRICS).map(([name, { kind }]) => [name, kind])),
    ...Object.fromEntries(Object.keys(FLEET_GAUGES).map((name) => [name, 'gauge'])),
  })
})

it('exports the default metrics of Node.js under the name of the process', async () => {
  const { samples } = await scrape(world)
  expect(samples).toContainEqual({
    name: 'process_resident_memory_bytes',
    labels: { process: expect.stringMatching(/\/\d+$/), role: 'api' },
    value: expect.any(Number),
  })
})

it('each process counts its own work, and the sum over processes is the whole', async () => {
  const rollouts = [
    { recipe: SEED, completion: '<answer>100</answer>' },
    { recipe: SEED, completion: 'none' },
  ]
  const before = await Promise.all([world, other].map(scrape))
  for (const { call } of [world, other, other]) {
    await call('POST', '/score', { rollouts })
    await call('POST', '/items', { ...SEED, count: 3 })
  }
  const after = await Promise.all([world, other].map(scrape))
  const growth = (name: string, labels: Record<string, string> = {}) =>
    after.map((reading, k) => sum(reading, name, labels) - sum(before[k] ?? reading, name, labels))
  const scored = { task: 'leg_counting', status: 'scored' }
  expect(growth('rgs_items_handed_out_total')).toEqual([3, 6])
  expect(growth('rgs_verdicts_total', { ...scored, format_fault: '' })).toEqual([1, 2])
  expect(growth('rgs_verdicts_total', { ...scored, format_fault: 'no_answer' })).toEqual([1, 2])
  expect(growth('rgs_reward_bucket', { le: '0' })).toEqual([1, 2])
  expect(growth('rgs_reward_bucket', { le: '1' })).toEqual([2, 4])
  expect(growth('rgs_reward_count')).toEqual([2, 4])
  const route = { method: 'POST', route: '/score' }
  expect(growth('rgs_http_requests_total', { ...route, status: '200' })).toEqual([1, 2])
  expect(growth('rgs_http_request_duration_seconds_count', route)).toEqual([1, 2])
})

it('a group is counted once, with its job and its run', async () => {
  const { id } = (await world.call('POST', '/items', SEED)).body.items[0]
  const group = { run: 'counted', item_id: id, rollouts: [{ completion: '<answer>100</answer>' }, { completion: '' }] }
  const before = await scrape(world)
  await world.call('PUT', '/runs/counted', {})
  for (const _ of [1, 2]) await world.call('POST', '/rollouts', group, { prefer: 'wait=20' })
  const jobs = { queue: 'score-group', outcome: 'completed' }
  const after = await until(
    () => scrape(world),
    (reading) => sum(reading, 'rgs_jobs_total', jobs) > sum(before, 'rgs_jobs_total', jobs),
  )
  const failed = { name: 'rgs_jobs_total', labels: { queue: 'score-group', outcome: 'failed' }, value: 0 }
  expect(after.samples).toContainEqual(expect.objectContaining(failed)) // before the first one, for the alert
  expect(sum(after, 'rgs_verdicts_total') - sum(before, 'rgs_verdicts_total')).toBe(2)
  expect(sum(after, 'rgs_groups_total') - sum(before, 'rgs_groups_total')).toBe(1)
  expect(sum(after, 'rgs_run_groups', { run: 'counted', state: 'buffered' })).toBe(1)
  expect(sum(after, 'rgs_run_counts', { run: 'counted', counter: 'rollouts' })).toBe(2)
})

it('every API process exports the same fleet gauges', async () => {
  await until(
    () => scrape(world),
    (reading) => sum(reading, 'rgs_queue_jobs', { queue: 'score-group', state: 'waiting' }) === 0,
  )
  const readings = await Promise.all([world, other].map(scrape))
  for (const reading of readings) {
    expect(sum(reading, 'rgs_workers')).toBe(1)
    expect(reading.samples).toContainEqual({
      name: 'rgs_queue_jobs',
      labels: { queue: 'score-group', state: 'waiting' },
      value: 0,
    })
  }
})

it('exports the state of the process, its engine and Redis', async () => {
  const reading = await until(
    () => scrape(world),
    (now) => sum(now, 'rgs_redis_ping_seconds_count') > 0,
  )
  expect(sum(reading, 'rgs_build_info')).toBe(1)
  expect(sum(reading, 'rgs_engine_up')).toBe(1)
  expect(sum(reading, 'rgs_engine_workers', { kind: 'score' })).toBeGreaterThan(0)
})

it('requests that match no route share one series', async () => {
  for (const path of ['/a', '/b']) await world.call('GET', path)
  const { samples } = await scrape(world)
  const unmatched = samples.filter(({ name, labels }) => name === 'rgs_http_requests_total' && labels.status === '404')
  expect(unmatched).toEqual([
    expect.objectContaining({ labels: { method: 'GET', route: 'none', status: '404' }, value: 2 }),
  ])
})

it('while Redis is away a process exports its own counters, and no fleet gauges', async () => {
  const alone = await openWorld()
  await alone.call('GET', '/livez')
  alone.platform.redis.disconnect()
  const reading = readMetrics((await alone.app.inject('/metrics')).body)
  expect(reading.samples).toContainEqual({ name: 'rgs_redis_up', labels: {}, value: 0 })
  expect(sum(reading, 'rgs_process_up')).toBe(1)
  expect(sum(reading, 'rgs_http_requests_total', { route: '/livez' })).toBe(1)
  expect(reading.types.has('rgs_runs')).toBe(false)
  await alone.close()
})
