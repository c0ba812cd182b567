import { afterAll, beforeAll, expect, it } from 'vitest'
import { formatExposition } from '../../../src/platform/metrics/exposition.ts'
import { METRICS } from '../../../src/platform/metrics/metric-definitions.ts'
import { MetricsRecorder } from '../../../src/platform/metrics/metrics-recorder.ts'
import { SharedCounter } from '../../../src/platform/metrics/shared-counters.ts'
import { openWorld, until, type World } from '../../world.ts'
import { type Reading, readMetrics } from './reading.ts'

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

const scrape = async ({ app }: World) => {
  const { statusCode, headers, body } = await app.inject('/metrics')
  expect([statusCode, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  return readMetrics(body)
}
const sum = ({ samples }: Reading, name: string, labels: Record<string, string> = {}) =>
  samples
    .filter((sample) => sample.name === name && Object.entries(labels).every(([k, v]) => sample.labels[k] === v))
    .reduce((total, { value }) => total + value, 0)

it('every metric of the catalogue is told, with its type', async () => {
  const { types } = await scrape(world)
  expect(Object.fromEntries(types)).toEqual(
    Object.fromEntries(Object.entries(METRICS).map(([name, { kind }]) => [name, kind])),
  )
})

it('what two processes count adds up, whichever is asked', async () => {
  const rollouts = [
    { recipe: SEED, completion: '<answer>100</answer>' },
    { recipe: SEED, completion: 'none' },
  ]
  const before = await scrape(other)
  await Promise.all([world, other].map(({ call }) => call('POST', '/score', { rollouts })))
  await Promise.all([world, other].map(({ call }) => call('POST', '/items', { ...SEED, count: 3 })))
  const after = await until(
    () => scrape(other),
    (reading) => sum(reading, 'rgs_items_handed_out_total') === sum(before, 'rgs_items_handed_out_total') + 6,
  )
  const scored = { task: 'leg_counting', status: 'scored' }
  expect(sum(after, 'rgs_verdicts_total', { ...scored, fault: '' })).toBe(2)
  expect(sum(after, 'rgs_verdicts_total', { ...scored, fault: 'no_answer' })).toBe(2)
  expect(sum(after, 'rgs_reward_bucket', { le: '0' })).toBe(2)
  expect(sum(after, 'rgs_reward_bucket', { le: '1' })).toBe(4)
  expect(sum(after, 'rgs_reward_count')).toBe(4)
  const route = { method: 'POST', route: '/score' }
  expect(sum(after, 'rgs_http_requests_total', { ...route, status: '200' })).toBe(2)
  expect(sum(after, 'rgs_http_request_duration_seconds_count', route)).toBe(2)
})

it('a group is counted once, with its job and its run', async () => {
  const { id } = (await world.call('POST', '/items', SEED)).body.items[0]
  const group = { run: 'counted', item_id: id, rollouts: [{ completion: '<answer>100</answer>' }, { completion: '' }] }
  const before = await scrape(world)
  for (const _ of [1, 2]) await world.call('POST', '/rollouts', group, { prefer: 'wait=20' })
  const jobs = { queue: 'score-group', outcome: 'completed' }
  const after = await until(
    () => scrape(world),
    (reading) => sum(reading, 'rgs_jobs_total', jobs) > sum(before, 'rgs_jobs_total', jobs),
  )
  expect(sum(after, 'rgs_verdicts_total') - sum(before, 'rgs_verdicts_total')).toBe(2)
  expect(sum(after, 'rgs_run_groups', { run: 'counted', state: 'buffered' })).toBe(1)
  expect(sum(after, 'rgs_run_counts', { run: 'counted', of: 'rollouts' })).toBe(2)
})

it('tells of the process, its engine, the queue and Redis', async () => {
  const reading = await until(
    () => scrape(world),
    (now) => sum(now, 'rgs_redis_ping_seconds_count') > 0,
  )
  expect(sum(reading, 'rgs_redis_up')).toBe(1)
  expect(sum(reading, 'rgs_engine_hosts', { kind: 'score' })).toBeGreaterThan(0)
  expect(sum(reading, 'rgs_event_loop_delay_seconds', { quantile: '1' })).toBeGreaterThan(0)
  expect(reading.samples).toContainEqual({
    name: 'rgs_queue_jobs',
    labels: { queue: 'score-group', state: 'waiting' },
    value: 0,
  })
})

it('what nobody routes shares one series', async () => {
  for (const path of ['/a', '/b']) await world.call('GET', path)
  const { samples } = await scrape(world)
  const lost = samples.filter(({ name, labels }) => name === 'rgs_http_requests_total' && labels.status === '404')
  expect(lost).toEqual([expect.objectContaining({ labels: { method: 'GET', route: 'none', status: '404' }, value: 2 })])
})

it('while Redis is away it tells of itself, and no counters that would seem to fall', async () => {
  const alone = await openWorld({ PYTHON_WORKERS: 1 })
  await alone.call('GET', '/livez')
  alone.platform.redis.disconnect()
  const reading = await scrape(alone)
  expect(reading.samples).toContainEqual({ name: 'rgs_redis_up', labels: {}, value: 0 })
  expect(sum(reading, 'rgs_process_up')).toBe(1)
  expect(sum(reading, 'rgs_http_requests_total')).toBe(0)
  await alone.close()
})

it('a bucket holds all that is not above its end, and what another version counted is left out', async () => {
  const tallies = new Map<string, SharedCounter>()
  const tally = (field: string) => {
    const made = new SharedCounter()
    tallies.set(field, made)
    return made
  }
  const meters = new MetricsRecorder({ getOrCreate: tally })
  for (const reward of [-2, 0, 0.25, 1]) meters.observe('rgs_reward', {}, reward)
  const sums = [...tallies].map(([field, { pendingAmount: amount }]): [string, number] => [field, amount])
  const reading = readMetrics(await formatExposition([...sums, ['["rgs_gone_total","x"]', 3]], []))
  const at = (le: string) => sum(reading, 'rgs_reward_bucket', { le })
  expect([at('-1'), at('0'), at('0.2'), at('0.3'), at('1'), at('+Inf')]).toEqual([1, 2, 2, 3, 4, 4])
  expect(sum(reading, 'rgs_reward_sum')).toBe(-0.75)
  expect(sum(reading, 'rgs_gone_total')).toBe(0)
})
