import type { Run, RunPage, RunSummary } from '@reasoning-gym-server/contract/run'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createRunKeys } from '../../../src/features/runs/records.ts'
import { openWorld, type World } from '../../world.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g']

let world: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
  for (const name of NAMES) await world.call('PUT', `/runs/${name}`, { tasks: ['gcd'], group_size: 2 })
  const { redis, keys } = world.platform
  for (const [k, name] of NAMES.entries()) await redis.zadd(createRunKeys(keys).runsByActivity, k >> 1, name)
})
afterAll(() => world.close())

async function listPages(query: string): Promise<RunSummary[][]> {
  const pages: RunSummary[][] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const { status, body } = await world.call('GET', `/runs?${query}${after}`)
    expect(status).toBe(200)
    const page: RunPage = body
    pages.push(page.runs)
    cursor = page.next_cursor
  }
  return pages
}
const listNames = async (query: string) => (await listPages(query)).map((page) => page.map(({ run }) => run))

it('each run is on one page, in the order of the names or with the most recently used first', async () => {
  expect(await listNames('limit=3')).toEqual([['a', 'b', 'c'], ['d', 'e', 'f'], ['g']])
  expect(await listNames('limit=3&sort=activity')).toEqual([['g', 'e', 'f'], ['c', 'd', 'a'], ['b']])
  expect(await listNames('sort=name')).toEqual([NAMES])
})

it('a run that is used comes first, and deleted and archived ones leave the list', async () => {
  const { body } = await world.call('POST', '/items', { run: 'c', step: 0, count: 1 }, { prefer: 'wait=60' })
  const rollouts = ['1', '2'].map((answer) => ({ completion: `<answer>${answer}</answer>` }))
  await world.call('POST', '/rollouts', { run: 'c', item_id: body.items[0].id, rollouts }, { prefer: 'wait=60' })
  await world.call('PATCH', '/runs/a', { lifecycle: 'archived' })
  await world.call('DELETE', '/runs/g')
  expect(await listNames('limit=2&sort=activity')).toEqual([['c', 'e'], ['f', 'd'], ['b']])
  expect((await listNames('limit=2&archived=true')).flat()).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
})

it('a summary says the same as the whole run', async () => {
  await world.call('PUT', '/runs/c', { tags: ['ablation'], notes: 'Half the learning rate.' })
  const [summary] = (await listPages('sort=activity')).flat()
  const run: Run = (await world.call('GET', '/runs/c')).body
  const { since: _, ...state } = summary?.state ?? { since: '' }
  expect(run.state).toMatchObject(state)
  expect(run.progress).toMatchObject(summary?.progress ?? {})
  expect(summary).toMatchObject({
    incarnation: run.incarnation,
    lifecycle: 'active',
    preset: run.settings.preset,
    tasks: Object.keys(run.tasks),
    tags: run.settings.tags,
    mean_reward: run.tasks.gcd?.mean_reward,
    recent_reward: run.tasks.gcd?.mean_reward,
    warnings: run.warnings.length,
    warning: run.warnings[0] ?? null,
  })
  expect((await world.call('GET', '/runs/c/marks')).body).toEqual({ marks: [] }) // words change nothing in a run
  expect(Math.floor(Date.parse(summary?.last_scored_at ?? '') / 1000)).toBe(
    Math.floor(Date.parse(run.tasks.gcd?.last_at ?? '') / 1000),
  )
})

it('words are searched in names and settings, over all runs and not only a page', async () => {
  await world.call('PUT', '/runs/f', { tags: ['Night-7'], notes: 'a third of the rate' })
  expect(await listNames('q=night-7&limit=1')).toEqual([['f']])
  expect(await listNames('q=THIRD+rate')).toEqual([['f']])
  expect(await listNames('q=third+rate+f')).toEqual([['f']]) // each word, wherever it is
  expect((await listNames('q=gcd&limit=2')).flat()).toEqual(['b', 'c', 'd', 'e', 'f'])
  expect(await listNames('q=lcm')).toEqual([[]])
})

it('the total counts the runs on all pages, and archived ones only where they are in the list', async () => {
  const total = async (query: string) => (await world.call('GET', `/runs?limit=1&${query}`)).body.total
  await expect.poll(() => total('')).toBe(5) // the keys of a deleted run are removed later
  expect(await total('q=third')).toBe(1)
  expect(await total('archived=true')).toBe(6)
  await world.call('PATCH', '/runs/a', { lifecycle: 'active' })
  expect(await total('')).toBe(6)
  await world.call('PATCH', '/runs/a', { lifecycle: 'archived' })
  expect(await total('')).toBe(5)
})

it('an archived run that gets rollouts is in the list again', async () => {
  const { body } = await world.call('POST', '/items', { run: 'd', step: 0, count: 1 }, { prefer: 'wait=60' })
  await world.call('PATCH', '/runs/d', { lifecycle: 'archived' })
  expect((await listNames('')).flat()).not.toContain('d')
  const rollouts = ['1', '2'].map((answer) => ({ completion: `<answer>${answer}</answer>` }))
  await world.call('POST', '/rollouts', { run: 'd', item_id: body.items[0].id, rollouts }, { prefer: 'wait=60' })
  expect((await listNames('')).flat()).toContain('d')
})

it('a state and warnings select among all runs', async () => {
  await world.call('PATCH', '/runs/e', { lifecycle: 'finished' })
  expect((await listNames('state=finished&limit=1')).flat()).toEqual(['e'])
  expect((await listNames('state=idle')).flat()).not.toContain('e')
  await world.call('PUT', '/runs/constant', { tasks: ['gcd'], group_size: 2, min_trained_tokens: 0 })
  const { body } = await world.call('POST', '/items', { run: 'constant', step: 0, count: 24 }, { prefer: 'wait=60' })
  const rollouts = ['7777', '7777'].map((answer) => ({ completion: `<answer>${answer}</answer>` }))
  for (const { id } of body.items)
    await world.call('POST', '/rollouts', { run: 'constant', item_id: id, rollouts }, { prefer: 'wait=60' })
  expect((await listNames('has_warnings=true')).flat()).toEqual(['constant'])
  expect((await listNames('has_warnings=false')).flat()).not.toContain('constant')
})

it('what is remembered of a run at rest is read again once the run is used', async () => {
  const { redis, keys } = world.platform
  await world.call('PUT', '/runs/resting', { tasks: ['gcd'], group_size: 2, min_trained_tokens: 0 })
  const summarize = async (): Promise<RunSummary> => (await world.call('GET', '/runs?q=resting')).body.runs[0]
  await redis.zrem(createRunKeys(keys).runsToSweep, 'resting')
  expect(await summarize()).toMatchObject({ mean_reward: null, progress: { buffered_groups: 0 } })
  const reads = vi.spyOn(world.features.runs.repository, 'readBacklog')
  await summarize()
  expect(reads).not.toHaveBeenCalled()
  const { body } = await world.call('POST', '/items', { run: 'resting', step: 0, count: 1 }, { prefer: 'wait=60' })
  const rollouts = ['1', '2'].map((answer) => ({ completion: `<answer>${answer}</answer>` }))
  await world.call('POST', '/rollouts', { run: 'resting', item_id: body.items[0].id, rollouts }, { prefer: 'wait=60' })
  await redis.zrem(createRunKeys(keys).runsToSweep, 'resting')
  expect(await summarize()).toMatchObject({ progress: { groups: 1 }, mean_reward: expect.any(Number) })
  expect(reads).toHaveBeenCalled()
  reads.mockRestore()
})

it('a cursor of another order is rejected', async () => {
  for (const query of ['sort=activity&cursor=b', 'cursor=12~b', 'cursor=~']) {
    const { status, body } = await world.call('GET', `/runs?${query}`)
    expect([status, body.code]).toEqual([400, 'invalid_request'])
  }
})
