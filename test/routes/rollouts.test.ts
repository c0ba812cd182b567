import { Group } from '@reasoning-gym-server/contract/rollout'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { requeueLostGroups } from '../../src/features/rollouts/jobs.ts'
import { keysOf, openWorld, until, type World } from '../world.ts'

let world: World
let item: { id: string; answer: string }

beforeAll(async () => {
  world = await openWorld({ worker: true })
  item = await aboutItem(world)
})
afterAll(() => world.close())

async function aboutItem({ call }: World) {
  const { id } = (await call('POST', '/items', { task: 'leg_counting', seed: 42 })).body.items[0]
  return { id, answer: '100' }
}

const rollouts = (...answers: string[]) => answers.map((answer) => ({ completion: `<answer>${answer}</answer>` }))
const post = (body: object, prefer = 'wait=20') =>
  world.call('POST', '/rollouts', { item_id: item.id, ...body }, { prefer })

it('a group of 16 is scored by a worker and can be looked at', async () => {
  const answers = Array.from({ length: 16 }, (_, k) => (k % 2 ? '100' : '7'))
  await world.call('PUT', '/runs/sixteen', {})
  const { status, body } = await post({ run: 'sixteen', rollouts: rollouts(...answers) })
  expect(status).toBe(200)
  expect(Group.parse(body)).toEqual(body)
  expect(body).toMatchObject({
    run: 'sixteen',
    task: 'leg_counting',
    status: 'scored',
    mean_score: 0.5,
    voters: 16,
    signal: true,
    destination: 'buffered',
  })
  expect(body.verdicts.map(({ reward }: { reward: number }) => reward)).toEqual(
    answers.map((answer) => (answer === '100' ? 1 : 0)),
  )
  const look = await world.call('GET', `/rollouts/${body.group_id}?run=sixteen`)
  expect(look.body).toEqual(body)
  const run = (await world.call('GET', '/runs/sixteen')).body
  expect(run.progress).toMatchObject({
    groups: 1,
    rollouts: 16,
    scored_groups: 1,
    buffered_groups: 1,
    queued_groups: 0,
  })
  expect(run.tasks.leg_counting).toMatchObject({ groups: 1, rollouts: 16, mean_score: 0.5 })
})

it('a rollout may have several turns, as many as the run allows tries', async () => {
  const turns = (...answers: string[]) => ({ turns: answers.map((answer) => `<answer>${answer}</answer>`) })
  const group = [turns('7', '100'), turns('100'), turns('7', '8'), ...rollouts('100')]
  await world.call('PUT', '/runs/turns', {})
  const refused = await post({ run: 'turns', rollouts: group })
  expect([refused.status, refused.body.code]).toEqual([400, 'invalid_request'])
  const settings = { tries: 2, try_discount: 0.5, dump_rollouts: 'all', feedback: 'rule', group_size: 2 } as const
  const { repository } = world.features.runs
  const change = { restart: false, remake: false, configures: true } // on another node: this one has the run in its cache
  expect(await repository.updateSettings('turns', await repository.get('turns'), settings, change)).toBe(true)
  const { body } = await post({ run: 'turns', rollouts: group })
  expect(Group.parse(body)).toEqual(body)
  expect(body).toMatchObject({ percent_correct: 0.75, percent_correct_first_try: 0.5, mean_score: 0.75 })
  expect(body.verdicts.map(({ reward }: { reward: number }) => reward)).toEqual([0.5, 1, 0, 1])
  const { body: batch } = await world.call('POST', '/runs/turns/batches', { step: 0, min_rollouts: 1 })
  expect(batch.metrics).toMatchObject({ 'score/frac_correct': 0.75, 'tries/frac_recovered': 0.25 })
  const { body: page } = await world.call('GET', '/runs/turns/groups')
  expect(JSON.stringify(page.groups[0])).toContain('<answer>100</answer>')
  const sample = { item_id: item.id, ...turns('7', '100'), rollout_id: 'a' }
  const { body: samples } = await world.call('POST', '/runs/turns/samples', { samples: [sample] })
  expect(samples).toMatchObject({ rewards: [0.5], verdicts: [{ score: 1, turns: [{ score: 0 }, { score: 1 }] }] })
  await world.call('PUT', '/runs/turns', { tries: 1 }) // the sample was answered before
  await world.call('POST', '/runs/turns/samples', { samples: [{ ...sample, rollout_id: 'b' }] })
  const { body: run } = await until(
    () => world.call('GET', '/runs/turns'),
    (answer) => answer.body.progress.scored_groups === 2,
  )
  expect(run.progress).toMatchObject({ rollouts: 6, open_groups: 0 })
})

it('without waiting it is accepted, with a place to look', async () => {
  await world.call('PUT', '/runs/later', {})
  const { status, body, headers } = await post({ run: 'later', rollouts: rollouts('100', '1') }, '')
  expect(status).toBe(202)
  expect(headers.location).toBe(`/rollouts/${body.group_id}?run=later`)
  expect(body).toMatchObject({ status: 'queued', destination: null })
  const done = await world.call('GET', String(headers.location), undefined, { prefer: 'wait=20' })
  expect(done.body.status).toBe('scored')
})

it('the same group sent twice, at once or later, counts once', async () => {
  const group = { run: 'twice', rollouts: rollouts('100', '2') }
  await world.call('PUT', '/runs/twice', {})
  const answers = await Promise.all(Array.from({ length: 8 }, () => post(group)))
  expect(new Set(answers.map(({ body }) => body.group_id)).size).toBe(1)
  expect((await post(group)).body).toEqual(answers[0]?.body)
  expect((await world.call('GET', '/runs/twice')).body.progress).toMatchObject({
    groups: 1,
    rollouts: 2,
    scored_groups: 1,
    buffered_groups: 1,
  })
})

it('equal content is equal whatever the order of its keys; other content under the same id is a conflict', async () => {
  await world.call('PUT', '/runs/ids', {})
  const one = await post({ run: 'ids', group_id: 'g-1', extra: { a: 1, b: 2 }, rollouts: rollouts('1', '100') })
  const same = await post({ run: 'ids', group_id: 'g-1', rollouts: rollouts('1', '100'), extra: { b: 2, a: 1 } })
  expect(same.body).toEqual(one.body)
  expect((await post({ run: 'ids', group_id: 'g-1', rollouts: rollouts('1', '1') })).body.code).toBe('group_conflict')
})

it('an id that no address can name is refused: what Location says would lead elsewhere', async () => {
  for (const group_id of ['.', '..']) {
    expect(await post({ run: 'ids', group_id, rollouts: rollouts('1') })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ path: 'group_id' }] },
    })
  }
  expect(await post({ run: 'ids', group_id: '...', rollouts: rollouts('1') })).toMatchObject({ status: 200 })
})

it('several groups are answered in order', async () => {
  const groups = ['100', '1', '100'].map((answer, k) => ({
    item_id: item.id,
    group_id: `n${k}`,
    rollouts: rollouts(answer),
  }))
  await world.call('PUT', '/runs/several', {})
  const { status, body } = await world.call('POST', '/rollouts', { run: 'several', groups }, { prefer: 'wait=20' })
  expect(status).toBe(200)
  expect(body.groups.map((group: Group) => [group.group_id, group.mean_score])).toEqual([
    ['n0', 1],
    ['n1', 0],
    ['n2', 1],
  ])
})

it('a run’s rules hold: a short rollout is skipped by name, a cut one masked, a failed one unscored', async () => {
  const [right, wrong] = rollouts('100', '1')
  await world.call('PUT', '/runs/rules', {})
  const { body } = await post({
    run: 'rules',
    rollouts: [
      { ...right, tokens: [1, 2, 3], masks: [-100, 2, 3] },
      { ...right, tokens: Array(20).fill(1), masks: Array(20).fill(1), finish_reason: 'length' },
      { ...wrong, finish_reason: 'abort' },
      { ...wrong, length_tokens: 12 },
      right,
    ],
  })
  expect(
    body.verdicts.map(
      (v: { skipped?: string; masked?: boolean; code?: string }) => v.skipped ?? v.code ?? v.masked ?? null,
    ),
  ).toEqual(['too_short', true, 'generation_failed', null, null])
  expect(body).toMatchObject({ voters: 2, mean_score: 2 / 3, lengths: 'some' })
})

it('a group of which nothing came has failed', async () => {
  await world.call('PUT', '/runs/failing', {})
  const { body } = await post({ run: 'failing', rollouts: [{ completion: '', finish_reason: 'error' }] })
  expect(body).toMatchObject({ status: 'failed', code: 'generation_failed', destination: null })
})

it('over its bound a run refuses new groups, answers known ones, and takes those that do not wait for a trainer', async () => {
  await world.call('PUT', '/runs/full', { buffer_max_groups: 1, batch_size: 16 })
  const known = await post({ run: 'full', group_id: 'a', rollouts: rollouts('100', '1') })
  const refused = await post({ run: 'full', group_id: 'b', rollouts: rollouts('100', '1') })
  expect(refused).toMatchObject({
    status: 429,
    body: { code: 'buffer_full', detail: expect.stringContaining('"buffer": false') },
  })
  expect(refused.headers['retry-after']).toBeDefined()
  expect((await post({ run: 'full', group_id: 'a', rollouts: rollouts('100', '1') })).body).toEqual(known.body)
  expect(
    (await post({ run: 'full', group_id: 'b', buffer: false, rollouts: rollouts('100', '1') })).body.destination,
  ).toBe('not_buffered')
})

it('a group whose job was lost is found by the sweeper', async () => {
  const apart = await openWorld()
  try {
    const { id } = await aboutItem(apart)
    await apart.call('PUT', '/runs/swept', {})
    const { body } = await apart.call('POST', '/rollouts', { run: 'swept', item_id: id, rollouts: rollouts('100') })
    const { redis } = apart.platform
    await redis.del(...(await keysOf(redis, `{${apart.prefix}:jobs}*`)))
    apart.startWorker()
    const { platform, engine, features } = apart
    const { groups } = features.rollouts
    const { index, repository: runs } = features.runs
    const { producer, log } = platform
    const sweeperDeps = { index, runs, groups, producer, engine, log }
    const swept = await until(
      () => requeueLostGroups(sweeperDeps, 1),
      (count) => count > 0,
    )
    expect(swept).toBe(1)
    const done = await apart.call('GET', `/rollouts/${body.group_id}?run=swept`, undefined, { prefer: 'wait=20' })
    expect(done.body.status).toBe('scored')
  } finally {
    await apart.close()
  }
})

it('a run that was changed or removed on another node is as it is now, not as it was read here', async () => {
  const other = await openWorld({ prefix: world.prefix })
  try {
    await world.call('PUT', '/runs/elsewhere', {})
    const send = (id: string) => post({ run: 'elsewhere', group_id: id, rollouts: rollouts('100', '1') })
    expect((await send('a')).body.destination).toBe('buffered')
    await other.call('PUT', '/runs/elsewhere', { buffer: false })
    expect((await send('b')).body.destination).not.toBe('buffered')
    await other.call('PUT', '/runs/elsewhere', { buffer: null, buffer_max_groups: 16 })
    const full = await Promise.all(Array.from({ length: 16 }, (_, k) => send(`c${k}`)))
    expect(full.filter(({ status }) => status === 200)).toHaveLength(15) // one waits there
    expect(full.filter(({ body }) => body.code === 'buffer_full')).toHaveLength(1)
    await other.call('DELETE', '/runs/elsewhere')
    expect((await send('a')).body.code).toBe('unknown_run')
    await other.call('PUT', '/runs/elsewhere', {})
    expect((await send('a')).status).toBe(200)
    expect((await world.call('GET', '/runs/elsewhere')).body.progress.groups).toBe(1)
  } finally {
    await other.close()
  }
})

it('a worker scores by the settings as they are, not as it read them for the group before', async () => {
  const other = await openWorld({ prefix: world.prefix })
  try {
    const twice = { completion: '<answer>1</answer><answer>100</answer>' }
    const scoreOf = async (id: string) => {
      const group = { run: 'rewritten', item_id: item.id, group_id: id, rollouts: [twice] }
      return (await other.call('POST', '/rollouts', group, { prefer: 'wait=20' })).body.mean_score
    }
    const set = (settings: object) => other.call('PUT', '/runs/rewritten', settings)
    await set({ extraction: 'strict' })
    expect(await scoreOf('a')).toBe(0)
    await set({ extraction: 'last_tag' })
    expect(await scoreOf('b')).toBe(1)
    await other.call('DELETE', '/runs/rewritten')
    await set({ extraction: 'strict' })
    await set({ dual_format: false }) // the same revision as the run before
    expect(await scoreOf('c')).toBe(0)
  } finally {
    await other.close()
  }
})

it('a group that is no longer kept is answered with its rewards when it is posted again, and holds up no other', async () => {
  await world.call('PUT', '/runs/forgetful', { keep_groups: 1, buffer: false })
  const group = (id: string) => ({ item_id: item.id, group_id: id, rollouts: rollouts('100', '1') })
  const send = (...ids: string[]) => post({ item_id: undefined, run: 'forgetful', groups: ids.map(group) })
  const first = await send('a', 'b', 'c')
  expect([first.status, first.body.groups.map((one: { status: string }) => one.status)]).toEqual([
    200,
    ['scored', 'scored', 'scored'],
  ])
  for (const { rewards } of first.body.groups) expect(rewards).toEqual([1, 0])
  expect((await world.call('GET', '/rollouts/a?run=forgetful')).body.code).toBe('unknown_group')
  const { status, body } = await send('a', 'd')
  expect([status, body.groups[0], body.groups[1].verdicts.length]).toEqual([
    200,
    expect.objectContaining({ group_id: 'a', task: 'leg_counting', status: 'scored', destination: 'not_buffered' }),
    2,
  ])
  expect(Group.parse(body.groups[0]).rewards).toEqual([1, 0])
  expect(body.groups[0]).not.toHaveProperty('verdicts')
})
