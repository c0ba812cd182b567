/** Runs that nobody uses: idle by themselves, finished or archived when somebody says so, active again with rollouts. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRunKeys } from '../../../src/features/runs/records.ts'
import { computeRunState } from '../../../src/features/runs/run-state.ts'
import { openWorld, takeItems, until, type World } from '../../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
}, 120_000)
afterAll(() => world.close())

const get = async (run: string) => (await world.call('GET', `/runs/${run}`)).body
const change = (run: string, lifecycle: string, headers = {}) =>
  world.call('PATCH', `/runs/${run}`, { lifecycle }, headers)
const listed = async (query = '') =>
  (await world.call('GET', `/runs${query}`)).body.runs.map(({ run }: { run: string }) => run)

it('a finished run says so, and the mark is the same when it is set again', async () => {
  await world.call('PUT', '/runs/over', {})
  const { status, body } = await change('over', 'finished')
  expect([status, body.lifecycle, body.state]).toEqual([
    200,
    'finished',
    { is: 'finished', since: expect.any(String), why: 'The run was marked finished.' },
  ])
  expect((await change('over', 'finished')).body.state).toEqual(body.state)
  expect(await listed()).toContain('over')
})

it('rollouts make a finished run active again', async () => {
  await world.call('PUT', '/runs/back', {})
  await change('back', 'finished')
  const [item] = await takeItems(world, 'back', 1)
  const rollouts = [{ completion: '<answer>1</answer>' }]
  await world.call('POST', '/rollouts', { run: 'back', groups: [{ item_id: item?.id, group_id: 'g', rollouts }] })
  expect((await get('back')).lifecycle).toBe('active')
})

it('an archived run is hidden from the list and from gauges, and can be reopened', async () => {
  await world.call('PUT', '/runs/old', {})
  await change('old', 'archived')
  expect(await listed()).not.toContain('old')
  expect(await listed('?archived=true')).toContain('old')
  expect((await world.app.inject({ url: '/metrics' })).body).not.toContain('run="old"')
  expect((await change('old', 'active')).body).toMatchObject({ lifecycle: 'active', state: { is: 'idle' } })
  expect(await listed()).toContain('old')
})

it('is refused for unknown runs, other incarnations and other words', async () => {
  expect((await change('nowhere', 'finished')).body.code).toBe('unknown_run')
  await world.call('PUT', '/runs/mine', {})
  expect((await change('mine', 'finished', { 'if-match': '"other"' })).body.code).toBe('run_recreated')
  expect((await change('mine', 'gone')).body.code).toBe('invalid_request')
})

it('a run starves only while a trainer waits; without one it is idle, also with full batches in its buffer', async () => {
  await world.call('PUT', '/runs/quiet', { batch_size: 4 })
  const run = await world.features.runs.runs.require('quiet')
  const backlog = await world.features.runs.repository.readBacklog(run)
  const inputs = { engine: { ok: true }, outcomes: {}, warnings: [] }
  const now = run.created + 3_600_000
  const at = (counters: object, rollouts = 0) =>
    computeRunState(
      { ...run, counters: { ...run.counters, ...counters } },
      { ...inputs, backlog: { ...backlog, bufferedRollouts: rollouts, bufferedScoredRollouts: rollouts } } as never,
      now,
    )
  expect(at({}).is).toBe('idle')
  expect(at({ last_accepted_at: now - 600_000 })).toMatchObject({
    is: 'idle',
    since: new Date(now - 600_000).toISOString(),
  })
  expect(at({ last_accepted_at: now - 600_000 }, 8)).toMatchObject({
    is: 'idle',
    why: expect.stringContaining('8 rollouts are ready'),
  })
  expect(at({ last_accepted_at: now - 600_000, last_batch_request_at: now - 30_000 }).is).toBe('starved_of_rollouts')
  expect(at({ last_accepted_at: now - 10_000 }).is).toBe('flowing')
  expect(at({ last_accepted_at: now - 10_000 }, 8).is).toBe('trainer_silent')
})

it('a mark that comes after its run was deleted leaves nothing behind', async () => {
  await world.call('PUT', '/runs/marked', {})
  const { runs, marks } = world.features.runs
  const run = await runs.require('marked')
  const mark = { kind: 'settings', text: 'batch_size: 16 → 32' } as const
  await marks.record(run, mark)
  expect(await marks.list(run)).toMatchObject([{ ...mark, step: null }])
  await world.call('DELETE', '/runs/marked')
  const { redis, keys } = world.platform
  const exists = () => redis.exists(createRunKeys(keys).forRun('marked', run.epoch).marks)
  await until(exists, (count) => count === 0)
  await marks.record(run, mark)
  await marks.recordRewind(run, 0)
  expect(await exists()).toBe(0)
})
