import type { Rescore } from '@reasoning-gym-server/contract/rescore'
import type { GroupVerdict } from '@reasoning-gym-server/contract/verdict'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { RescoreRepository } from '../../../src/features/rescores/repository.ts'
import { keysOf, openWorld, takeItems, until, type World } from '../../world.ts'

const TASKS = ['game_of_life_halting', 'leg_counting', 'spell_backward', 'largest_island']
const RUNS = { original: { tasks: TASKS }, clean: { preset: 'clean', tasks: ['spell_backward'] } }

let world: World
let posted: { group_id: string; item_id: string; task: string; completions: string[] }[]

beforeAll(async () => {
  world = await openWorld({ worker: true })
  for (const [run, settings] of Object.entries(RUNS)) await world.call('PUT', `/runs/${run}`, settings)
  posted = (await Promise.all(TASKS.map(buildGroups))).flat()
  await post('original', posted)
})
afterAll(() => world.close())

async function buildGroups(task: string) {
  const { body } = await world.call('POST', '/items', { task, seed: 5, count: 5 }, { prefer: 'wait=60' })
  const ids: string[] = body.items.map(({ id }: { id: string }) => id)
  return Promise.all(
    ids.map(async (item_id, k) => {
      const { answer } = (await world.call('GET', `/items/${item_id}?reveal=true`)).body
      const completions = [
        `<answer>${answer}</answer>`,
        `first <answer>1</answer>, then <answer>${answer}</answer>`,
        '<answer>anything</answer>',
        `\\boxed{${answer}}`,
      ]
      return { group_id: `${task}-${k}`, item_id, task, completions }
    }),
  )
}

async function post(run: string, groups: typeof posted) {
  const bodies = groups.map(({ group_id, item_id, completions }, k) => ({
    group_id,
    item_id,
    rollouts: completions.map((completion, j) => ({
      completion,
      length_tokens: 12_000 + 1000 * ((j + k) % 4),
      ...(j === 3 && k % 3 === 0 && { finish_reason: 'length' }),
    })),
  }))
  const { status, body } = await world.call('POST', '/rollouts', { run, groups: bodies }, { prefer: 'wait=60' })
  expect([status, body.detail]).toEqual([200, undefined])
}

async function rescore(run: string, input: object): Promise<Rescore> {
  const { status, body } = await world.call('POST', `/runs/${run}/rescore`, input)
  expect([status, body.detail]).toEqual([202, null])
  return await until(
    async () => (await world.call('GET', `/runs/${run}/rescore/${body.id}`)).body as Rescore,
    (found) => ['done', 'failed'].includes(found.status),
  )
}

it('one that was forgotten for newer ones does not come back while it runs', async () => {
  const run = await world.features.runs.runs.require('clean')
  const repository = new RescoreRepository(world.platform.redis, world.platform.keys)
  const made = (id: string): Rescore => ({
    id,
    run: run.name,
    status: 'queued',
    created_at: new Date().toISOString(),
    settings: {},
    tasks: null,
    sample: null,
    progress: { total: 0, done: 0 },
    detail: null,
    result: null,
  })
  const names = Array.from({ length: 21 }, (_, k) => `rescore-${k}`)
  for (const name of names) expect(await repository.store(run, made(name))).toBe(true)
  expect(await repository.store(run, { ...made('rescore-0'), status: 'running' })).toBe(false)
  expect((await repository.list(run)).map(({ id }) => id)).toEqual(names.slice(1).toReversed())
})

it('equal rules give equal results', async () => {
  const { result, progress } = await rescore('original', {})
  expect(progress).toEqual({ total: posted.length, done: posted.length })
  expect(result).toMatchObject({
    groups: posted.length,
    rollouts: 4 * posted.length,
    rewards_changed: 0,
    mean_change: 0,
    groups_gaining_signal: 0,
    groups_losing_signal: 0,
    advantages_flipped: 0,
    left_out: 0,
    examples: [],
  })
  expect(Object.keys(result?.tasks ?? {})).toEqual(TASKS.toSorted())
})

it('other rules give what the same completions get from a run with these settings, and change nothing', async () => {
  const changes = {
    extraction: 'last_tag',
    scoring: 'hardened',
    length_penalty: { kind: 'dapo' },
    advantage: 'mean_std',
  }
  await world.call('PUT', '/runs/other', changes)
  await post('other', posted)
  const before = (await world.call('GET', '/runs/original')).body
  const { result } = await rescore('original', { settings: changes })
  const verdictsOf = async (run: string, id: string): Promise<GroupVerdict[]> =>
    (await world.call('GET', `/runs/${run}/groups/${id}`)).body.verdicts
  const expected = { rewards_changed: 0, flipped: 0 }
  for (const { group_id } of posted) {
    const [old, now] = await Promise.all(['original', 'other'].map((run) => verdictsOf(run, group_id)))
    for (const [k, { reward, advantage }] of old?.entries() ?? []) {
      if (reward !== now?.[k]?.reward) expected.rewards_changed += 1
      if ((advantage ?? 0) * (now?.[k]?.advantage ?? 0) < 0) expected.flipped += 1
    }
  }
  expect(expected.rewards_changed).toBeGreaterThan(posted.length)
  expect(result?.rewards_changed).toBe(expected.rewards_changed)
  expect(result?.advantages_flipped).toBe(expected.flipped)
  for (const { group_id, rollout, before: was, after: is } of result?.examples ?? []) {
    expect(was).toMatchObject({ reward: (await verdictsOf('original', group_id))[rollout]?.reward })
    expect(is).toMatchObject({ reward: (await verdictsOf('other', group_id))[rollout]?.reward })
  }
  expect((await world.call('GET', '/runs/original')).body).toEqual(before)
})

it('tasks and samples limit which groups are scored', async () => {
  expect((await rescore('original', { tasks: ['leg_counting'] })).result?.groups).toBe(5)
  expect((await rescore('original', { tasks: ['category:graphs', 'leg_counting'] })).result?.groups).toBe(10)
  expect((await rescore('original', { sample: 3 })).progress.total).toBe(3)
  const { result } = await rescore('original', { sample: 0.5 })
  expect(result?.groups).toBeGreaterThan(0)
  expect(result?.groups).toBeLessThan(posted.length)
})

it('tells where the frontier would stand', async () => {
  for (let k = 0; k < 4; k++) {
    const groups = (await takeItems(world, 'clean', 2)).map(async ({ id: item_id }, j) => {
      const { answer } = (await world.call('GET', `/items/${item_id}?reveal=true`)).body
      return {
        group_id: `f${k}-${j}`,
        item_id,
        task: 'spell_backward',
        completions: Array(4).fill(`\\boxed{${answer}}`),
      }
    })
    await post('clean', await Promise.all(groups))
  }
  const { result } = await rescore('clean', { settings: { extraction: 'tag_or_boxed' } })
  const { before = 1, after = 0 } = result?.tasks.spell_backward?.difficulty ?? {}
  expect(after).toBeGreaterThan(before)
})

it('goes on after its job was lost', async () => {
  await world.stopWorkers()
  const { body } = await world.call('POST', '/runs/other/rescore', {})
  const { redis, keys } = world.platform
  for (const job of await keysOf(redis, `${keys.queuePrefix}:rescore:*`)) await redis.unlink(job)
  world.startWorker()
  const read = async () => (await world.call('GET', `/runs/other/rescore/${body.id}`)).body as Rescore
  const { result } = await until(read, ({ status }) => status === 'done')
  expect(result).toMatchObject({ groups: posted.length, rewards_changed: 0 })
})

it('that has ended does not change when a worker that stalled goes on with it', async () => {
  const ended = await rescore('other', {})
  const { redis, keys } = world.platform
  const run = await world.features.runs.runs.require('other')
  const repository = new RescoreRepository(redis, keys)
  for (const status of ['running', 'failed'] as const)
    expect(await repository.store(run, { ...ended, status, result: null })).toBe(false)
  expect(ended.status).toBe('done')
  expect(await repository.get(run, ended.id)).toMatchObject({ status: 'done', result: ended.result })
})

it('a repeated call starts one rescore; the list has the last ones; they end with their run', async () => {
  const [one, two] = await Promise.all(
    [1, 2].map(() => world.call('POST', '/runs/original/rescore', {}, { 'idempotency-key': 'once' })),
  )
  expect(one?.body.id).toBe(two?.body.id)
  const listed = (await world.call('GET', '/runs/original/rescore')).body.rescores
  expect(listed[0].id).toBe(one?.body.id)
  expect(new Set(listed.map(({ id }: Rescore) => id)).size).toBe(listed.length)
  await world.call('DELETE', '/runs/original')
  expect((await world.call('GET', `/runs/original/rescore/${one?.body.id}`)).body.code).toBe('unknown_run')
  const left = () => keysOf(world.platform.redis, `${world.prefix}*rescore*`)
  await until(left, (keys) => keys.every((key) => !key.includes('original')))
})

it('says what is wrong', async () => {
  const call = async (body: object) => (await world.call('POST', '/runs/other/rescore', body)).body
  expect(await call({ settings: { seed: 1 } })).toMatchObject({ code: 'invalid_request' })
  expect(await call({ tasks: ['leg_count'] })).toMatchObject({ code: 'unknown_task', name: 'leg_count' })
  expect(await call({ sample: 0 })).toMatchObject({ code: 'invalid_request' })
  const { body } = await world.call('GET', '/runs/other/rescore/rescore-1')
  expect(body).toMatchObject({ code: 'unknown_rescore', kind: 'rescore', name: 'rescore-1' })
})
