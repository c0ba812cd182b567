/** A run that went back to a step is what it would be if it had never gone past it. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { BatchRepository } from '../../../src/features/batches/repository.ts'
import { CheckpointRepository } from '../../../src/features/runs/checkpoint/repository.ts'
import { createRunKeys } from '../../../src/features/runs/records.ts'
import { RequestedPositions } from '../../../src/features/runs/sequence/requested.ts'
import { type Answer, openWorld, takeItems, until, untilMadeAhead, type World } from '../../world.ts'

let world: World
let other: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
  other = await openWorld({ prefix: world.prefix })
})
afterAll(async () => {
  await other.close()
  await world.close()
})

const TASKS = ['chain_sum', 'gcd', 'leg_counting']
const SETTINGS = { tasks: TASKS, batch_size: 12, group_size: 4, min_trained_tokens: 0, seed: 7 }
const ITEMS = 3

const call = (...[method, url, body, headers]: Parameters<World['call']>): Promise<Answer> =>
  world.call(method, url, body, { prefer: 'wait=60', ...headers })

/** Answers an item as a policy does: which rollouts are right depends on the item, the step and the policy alone. */
async function post(run: string, item: { id: string }, group: object, policy: string, at = world): Promise<Answer> {
  const { body } = await call('GET', `/items/${item.id}?reveal=true`)
  const rollouts = Array.from({ length: 4 }, (_, k) => {
    const isRight = createHash('md5').update(`${item.id}/${policy}/${k}`).digest().readUInt8(0) < 150
    return { completion: `<answer>${isRight ? body.answer : 'zzz'}</answer>`, length_tokens: 10 + k }
  })
  return at.call('POST', '/rollouts', { run, item_id: item.id, rollouts, ...group }, { prefer: 'wait=60' })
}

/** Trains one step and returns the IDs of its items. */
async function train(run: string, step: number, policy: string, at = world): Promise<string[]> {
  const asked = await at.call('POST', '/items', { run, step, count: ITEMS }, { prefer: 'wait=60' })
  for (const [k, item] of asked.body.items.entries()) {
    const group = { group_id: `${step}-${k}`, policy_version: step }
    expect((await post(run, item, group, policy, at)).body.status).toBe('scored')
  }
  expect((await at.call('POST', `/runs/${run}/batches`, { step, final: true })).status).toBe(200)
  expect((await at.call('POST', `/runs/${run}/batches/${step}/ack`)).status).toBe(200)
  return asked.body.items.map(({ id }: { id: string }) => id)
}

const rewind = (run: string, step: number, more: object = {}, at = world) =>
  at.call('POST', `/runs/${run}/rewind`, { step, ...more })

/** Waits until a new run has made its first items ahead: more than the six steps hand out. */
async function untilPrefetched(run: string): Promise<void> {
  const { redis, keys } = world.platform
  const { epoch } = await world.features.runs.runs.require(run)
  const { itemBodies } = createRunKeys(keys).forRun(run, epoch)
  await until(async () => (await redis.hlen(itemBodies)) >= 20, Boolean)
}

/** Times differ, and so do audits: each worker draws a sample of answers in its memory. */
const INCOMPARABLE = /(^|_)(time|at|since)$|^permuted_|^hack_gap/

/** What a reader sees of a run, without what depends on when items were made ahead. */
async function figures(run: string) {
  const lines = (await world.app.inject({ method: 'GET', url: `/runs/${run}/metrics` })).body
  const { body: view } = await call('GET', `/runs/${run}`)
  const { body: checkpoint } = await call('GET', `/runs/${run}/checkpoint`)
  const { body: history } = await call('GET', `/runs/${run}/history`)
  const { sequence, marks: _, ...state } = checkpoint
  const { issued, steps } = sequence
  const all = { lines, view, history, state, issued, steps }
  return JSON.parse(
    JSON.stringify(all, (key, value) => (INCOMPARABLE.test(key) ? undefined : value))
      .replaceAll(`"${run}"`, '"RUN"')
      .replaceAll(view.incarnation, 'INCARNATION'),
  )
}

const MODES = [
  { complexity_mode: 'none' },
  { complexity_mode: 'fixed', difficulty: 0.5 },
  { complexity_mode: 'random' },
  { complexity_mode: 'curriculum' },
  { complexity_mode: 'frontier' },
  { complexity_mode: 'frontier', sampling: 'learnability' },
] as const

describe('the same rollouts after a rewind give the same items and figures as in a run that never went past the step', () => {
  it.each(MODES)('%o', async (mode) => {
    const name = `${mode.complexity_mode}-${'sampling' in mode ? 'learnability' : 'weights'}`
    const node = mode.complexity_mode === 'curriculum' ? other : world // some calls of one mode go to another node
    const [straight, back] = [`straight-${name}`, `back-${name}`]
    for (const run of [straight, back]) {
      expect((await call('PUT', `/runs/${run}`, { ...SETTINGS, ...mode })).status).toBe(201)
      await untilPrefetched(run) // sampling that follows the model draws when an item is made
    }
    const expected: string[][] = []
    for (let step = 0; step < 6; step++) expected.push(await train(straight, step, 'trained'))

    for (let step = 0; step < 3; step++) expect(await train(back, step, 'trained')).toEqual(expected[step])
    const before = await figures(back)
    // it goes on with another policy: some steps, items of the queue, a batch that stays open, and groups that stay buffered
    for (let step = 3; step < 5; step++) await train(back, step, 'lost', node)
    const items = await takeItems(node, back, 2)
    await post(back, items[0] ?? { id: '' }, { group_id: 'queue-0' }, 'lost')
    await node.call('POST', `/runs/${back}/batches`, { step: 5, min_rollouts: 1 })
    await post(back, items[1] ?? { id: '' }, { group_id: 'queue-1' }, 'lost', node)

    const rewound = await rewind(back, 2, {}, node)
    expect(rewound).toMatchObject({ status: 200, body: { voided: { groups: 8 } } })
    expect(await figures(back)).toEqual(before)
    expect((await rewind(back, 2)).body.voided).toBeNull()
    expect(await train(back, 3, 'trained', node)).toEqual(expected[3])
    expect((await rewind(back, 2, { resume_id: 'again' })).body.voided.groups).toBe(3)
    for (let step = 3; step < 6; step++) {
      expect(await train(back, step, 'trained', step % 2 === 0 ? node : world)).toEqual(expected[step])
      expect((await rewind(back, 2, { resume_id: 'again' }, node)).body.voided).toBeNull()
    }
    expect(await figures(back)).toEqual(await figures(straight))
  })
})

it('so do many rewinds, to any step, with anything in between', async () => {
  // sampling that follows the model draws when an item is made, which is not at the same moment in two runs
  const settings = { ...SETTINGS, complexity_mode: 'curriculum' }
  for (const run of ['walk', 'walked']) await call('PUT', `/runs/${run}`, settings)
  const [expected, states]: [string[][], unknown[]] = [[], []]
  for (let step = 0; step < 5; step++) {
    expected.push(await train('walk', step, 'trained'))
    states.push(await figures('walk'))
  }
  let next = 0
  for (const [k, back] of [3, 1, 2, 0, 4].entries()) {
    for (; next <= back; next++) expect(await train('walked', next, 'trained')).toEqual(expected[next])
    for (let lost = 0; lost <= k % 3; lost++)
      await train('walked', next + lost, `lost ${k}`, lost === 1 ? other : world)
    expect((await rewind('walked', back, { resume_id: `${k}` })).body.voided.groups).toBe(
      ITEMS * ((k % 3) + 1 + Math.max(0, next - back - 1)),
    )
    expect(await figures('walked')).toEqual(states[back])
    next = back + 1
  }
})

it('a mix that was set after the step is forgotten, and one that was set before it comes back; so in a fork', async () => {
  const mixes = async (run: string) => (await call('GET', `/runs/${run}/mixes`)).body.mixes
  const mix = (run: string, task: string) => call('PATCH', `/runs/${run}`, { mix: { tasks: [task] } })
  const tasksOf = (ids: string[]) => new Set(ids.map((id) => id.split('.')[0]))
  for (const run of ['steered', 'resteered'])
    await call('PUT', `/runs/${run}`, { ...SETTINGS, complexity_mode: 'curriculum', tasks: ['gcd'] })
  const expected: string[][] = []
  for (const run of ['steered', 'resteered']) {
    await train(run, 0, 'trained')
    await mix(run, 'leg_counting')
    for (let step = 1; step < 3; step++) {
      const ids = await train(run, step, 'trained')
      if (run === 'steered') expected[step] = ids
    }
  }
  const straight = await figures('steered')
  await mix('resteered', 'spell_backward')
  expect(tasksOf(await train('resteered', 3, 'lost'))).toEqual(new Set(['spell_backward']))
  expect((await rewind('resteered', 1)).status).toBe(200)
  expect((await mixes('resteered')).map(({ number }: { number: number }) => number)).toEqual([0, 1])
  expect(await train('resteered', 2, 'trained')).toEqual(expected[2])
  expect(await figures('resteered')).toEqual(straight)
  const { marks } = (await call('GET', '/runs/resteered/marks')).body
  const change = { kind: 'settings', step: 0, text: 'tasks: ["gcd"] → ["leg_counting"]', task: null }
  expect(marks).toMatchObject([change, { kind: 'rewind', step: 1, text: 'Went back to step 1 from step 3.' }])
  const checkpoint = (await call('GET', '/runs/resteered/checkpoint')).body
  for (const [run, document] of Object.entries({ moved: checkpoint, old: { ...checkpoint, marks: undefined } })) {
    expect((await call('PUT', `/runs/${run}/checkpoint`, document)).status).toBe(200)
    expect((await call('GET', `/runs/${run}/marks`)).body.marks).toEqual(run === 'moved' ? marks : [])
  }
  await mix('resteered', 'spell_backward')
  const { status } = await call('POST', '/runs/resteered/fork', { name: 'of-step-1', step: 1 })
  expect(status).toBe(201)
  expect((await call('GET', '/runs/of-step-1/marks')).body.marks).toEqual(marks)
  expect(await train('of-step-1', 2, 'trained')).toEqual(expected[2])
  expect((await rewind('resteered', 0)).status).toBe(200)
  expect(tasksOf(await train('resteered', 1, 'trained'))).toEqual(new Set(['gcd']))
})

describe('a step ends', () => {
  const answer = async (run: string, items: { id: string }[], more: object, policy: string) => {
    for (const item of items)
      expect(
        (
          await post(
            run,
            item,
            { group_id: createHash('md5').update(`${item.id} ${policy}`).digest('hex'), buffer: false, ...more },
            policy,
          )
        ).body.status,
      ).toBe('scored')
  }
  const ids = (answered: Answer) => answered.body.items.map(({ id }: { id: string }) => id)

  it('when items of a later step are requested, in a run without batches', async () => {
    const settings = { ...SETTINGS, complexity_mode: 'curriculum', buffer: false }
    for (const run of ['items-a', 'items-b']) {
      await call('PUT', `/runs/${run}`, settings)
      for (let step = 0; step < 3; step++) {
        await answer(run, (await call('POST', '/items', { run, step, count: 2 })).body.items, {}, 'trained')
        expect((await rewind(run, step)).body.voided).toBeNull() // nothing of a later step has come
      }
    }
    await answer(
      'items-b',
      (await call('POST', '/items', { run: 'items-b', step: 7, count: 4 })).body.items,
      {},
      'lost',
    )
    expect((await rewind('items-b', 5)).body.voided).toMatchObject({ groups: 4 }) // step 2 was the last one before
    const next = []
    for (const run of ['items-a', 'items-b']) {
      const asked = await call('POST', '/items', { run, step: 3, count: 2 })
      next.push(ids(asked))
      await answer(run, asked.body.items, {}, 'trained')
    }
    expect(next[1]).toEqual(next[0])
    const [a, b] = [await figures('items-a'), await figures('items-b')]
    expect(b).toEqual(a)
  })

  it('when a group of a later policy comes, or when its trainer says so; items by position are handed out again', async () => {
    const settings = { ...SETTINGS, complexity_mode: 'curriculum', buffer: false, avoid_repeated_items: true }
    const runs = ['versions-a', 'versions-b', 'ends-a', 'ends-b']
    const last: string[][] = []
    for (const run of runs) {
      await call('PUT', `/runs/${run}`, settings)
      const isEnded = run.startsWith('ends')
      const block = async (step: number, policy: string) => {
        const asked = await call('POST', '/items', { run, position: 2 * step, count: 2 })
        await answer(run, asked.body.items, isEnded ? {} : { policy_version: step }, policy)
        if (isEnded) expect((await call('POST', `/runs/${run}/steps`, { step })).status).toBe(204)
        return ids(asked)
      }
      for (let step = 0; step < 3; step++) await block(step, 'trained')
      if (run.endsWith('b')) {
        for (let step = 3; step < 6; step++) await block(step, 'lost')
        expect((await rewind(run, 2, { resume_id: 'r' })).body.voided).toMatchObject({ groups: 6 })
      }
      last.push(await block(3, 'trained'))
    }
    expect(last[1]).toEqual(last[0])
    expect(last[3]).toEqual(last[2])
    // a version names no block of positions, so the items of step 3 were requested before step 2 had ended
    expect((await figures('ends-b')).state).toEqual((await figures('ends-a')).state)
    expect((await figures('versions-b')).lines).toEqual((await figures('versions-a')).lines)
  })

  it('with its batch alone, once a batch was composed, whatever its policy versions count', async () => {
    await call('PUT', '/runs/units', { ...SETTINGS, batch_size: 4 })
    const { items } = (await call('POST', '/items', { run: 'units', step: 100, count: 3 })).body
    for (const [k, version] of [1_795_000_000_000_123, 1_795_000_000_000_456, 1_795_000_000_000_789].entries())
      await post('units', items[k], { group_id: `${k}`, policy_version: version }, 'trained')
    await call('POST', '/items', { run: 'units', step: 101, count: 1 })
    for (const step of [0, 1]) expect((await call('POST', '/runs/units/batches', { step })).status).toBe(200)
    expect((await rewind('units', 0)).body).toMatchObject({ voided: { groups: 0, open_batches: 2 } })
    expect((await call('GET', '/runs/units')).body.progress).toMatchObject({ step: 0, groups: 3, buffered_groups: 0 })
    const of = async (id: number) => (await call('GET', `/runs/units/groups/${id}`)).body.destination
    expect([await of(0), await of(2)]).toEqual(['buffered', 'rewound']) // in the batch of step 0, and in none
    expect((await call('PUT', '/runs/units?restart=true', { seed: 8 })).status).toBe(200)
    expect((await rewind('units', 0)).body.code).toBe('step_unavailable') // the sequence of that step is gone
  })

  it('and a call with an Idempotency-Key from before a rewind gets the items of now', async () => {
    await call('PUT', '/runs/keyed', SETTINGS)
    await call('POST', '/runs/keyed/steps', { step: 0 })
    const asks = async (key: string) => {
      await untilMadeAhead(world, 'keyed', 2)
      return call('POST', '/items', { run: 'keyed', count: 2 }, { 'idempotency-key': key })
    }
    const [first, second] = [await asks('one'), await asks('two')]
    expect(ids(await asks('two'))).toEqual(ids(second))
    expect((await rewind('keyed', 0)).status).toBe(200)
    expect(ids(await asks('two'))).toEqual(ids(first))
    expect(ids(await asks('three'))).toEqual(ids(second))
    expect(ids(await asks('two'))).toEqual(ids(first))
    const { body: checkpoint } = await call('GET', '/runs/keyed/checkpoint')
    const next = ids(await asks('four'))
    await call('PUT', '/runs/keyed/checkpoint', checkpoint)
    expect([ids(await asks('five')), ids(await asks('four'))[0]]).toEqual([next, expect.not.stringMatching(next[0])])
  })

  it('and a mix that was set under an Idempotency-Key is set again', async () => {
    await call('PUT', '/runs/keyed-mix', SETTINGS)
    await call('POST', '/runs/keyed-mix/steps', { step: 0 })
    const set = async (task: string) => {
      const change = { mix: { tasks: [task] } }
      return (await call('PATCH', '/runs/keyed-mix', change, { 'idempotency-key': task })).body.settings.tasks
    }
    expect([await set('gcd'), await set('chain_sum'), await set('gcd')]).toEqual([
      ['gcd'],
      ['chain_sum'],
      ['chain_sum'],
    ])
    await rewind('keyed-mix', 0)
    expect(await set('gcd')).toEqual(['gcd'])
  })

  it('and calls that wait during a rewind change nothing in the run that goes on', async () => {
    await call('PUT', '/runs/flight', SETTINGS)
    await train('flight', 0, 'trained')
    const { compose } = BatchRepository.prototype
    vi.spyOn(BatchRepository.prototype, 'compose').mockImplementationOnce(async function (
      this: BatchRepository,
      ...of
    ) {
      await rewind('flight', 0, { resume_id: 'batch' }, other)
      return compose.apply(this, of)
    })
    const { requestStep } = RequestedPositions.prototype
    const requests = vi.spyOn(RequestedPositions.prototype, 'requestStep').mockImplementationOnce(requestStep)
    requests.mockImplementationOnce(async function (this: RequestedPositions, ...of) {
      await rewind('flight', 0, { resume_id: 'items' }, other) // while its items are made
      return requestStep.apply(this, of)
    })
    const batch = await call('POST', '/runs/flight/batches', { step: 9, final: true })
    expect((await call('GET', '/runs/flight')).body.progress.step).toBe(0)
    const asked = await call('POST', '/items', { run: 'flight', step: 9, count: 128 })
    expect([batch.body.code, asked.body.code]).toEqual(['run_changed', 'run_changed'])
    await train('flight', 1, 'trained')
    expect((await rewind('flight', 1)).status).toBe(200)
  })

  it('and what the run cannot go back to is refused', async () => {
    await call('PUT', '/runs/young', SETTINGS)
    const refused = await rewind('young', 0)
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'step_unavailable', detail: expect.stringContaining('nothing has named') },
    })
    await call('POST', '/runs/young/steps', { step: 4 })
    expect((await rewind('young', 9)).body.detail).toContain('latest step is 4')
    expect((await rewind('young', 3)).body.detail).toContain('oldest step that it can go back to is 4')
    expect((await rewind('none', 3)).body.code).toBe('unknown_run')
    for (const path of ['steps', 'batches']) {
      const { status, body } = await call('POST', `/runs/young/${path}`, { step: 1_000_005 })
      expect([status, body.errors[0].message]).toEqual([400, 'must be at most 1000004'])
    }
    expect((await call('POST', '/runs/young/steps', { step: 1_000_004 })).status).toBe(204)
  })
})

it('later groups are void: they can be read, their IDs are free, and what was in flight does not count', async () => {
  const run = 'void'
  await call('PUT', `/runs/${run}`, SETTINGS)
  for (let step = 0; step < 2; step++) await train(run, step, 'trained')
  const lost = await train(run, 2, 'lost')
  await world.stopWorkers()
  const queued = await world.call('POST', '/rollouts', {
    run,
    item_id: lost[0],
    group_id: 'late',
    rollouts: [{ completion: 'a' }],
  })
  expect(queued.body.status).toBe('queued')
  const waiting = world.call(
    'POST',
    '/rollouts',
    { run, item_id: lost[1], group_id: 'later', rollouts: [{ completion: 'b' }] },
    { prefer: 'wait=60' },
  )
  await until(
    async () => (await call('GET', `/runs/${run}`)).body.progress.queued_groups,
    (count) => count === 2,
  )
  expect((await rewind(run, 1)).body).toMatchObject({ step: 1, voided: { groups: 5, queued_groups: 2 } })
  world.startWorker()
  const repeated = await train(run, 2, 'trained') // the same group IDs
  expect(repeated).toEqual(lost)
  expect((await waiting).body.code).toBe('run_changed')
  const { body: view } = await call('GET', `/runs/${run}`)
  expect(view.progress).toMatchObject({ groups: 9, scored_groups: 9, step: 2, queued_groups: 0 })
  const listed = async (query: string) => (await call('GET', `/runs/${run}/groups?${query}`)).body.groups
  const voided = await listed('destination=rewound')
  expect(voided.map((group: { group_id: string }) => group.group_id)).toEqual([
    'rewound-1-2-2',
    'rewound-1-2-1',
    'rewound-1-2-0',
  ])
  expect(voided[0].completions).toHaveLength(4)
  expect((await listed('limit=50')).length).toBe(9)
  expect((await listed('destination=rewound&limit=1')).length).toBe(1)
  expect((await call('GET', `/runs/${run}/groups/rewound-1-2-0`)).body).toMatchObject({
    destination: 'rewound',
    item_id: lost[0],
  })
  expect((await call('POST', `/runs/${run}/batches/1/ack`)).status).toBe(200) // a trainer that resumes acknowledges again
})

it('voided groups keep what they are, whatever their IDs, and rollouts may have the names of voided ones', async () => {
  const run = 'names'
  await call('PUT', `/runs/${run}`, { ...SETTINGS, group_size: 2, buffer: false })
  await call('POST', `/runs/${run}/steps`, { step: 0 })
  const { items } = (await call('POST', '/items', { run, position: 0, count: 5 })).body
  const long = 'x'.repeat(127)
  for (const [k, group_id] of ['mine', 'rewound-1-mine', `${long}1`, `${long}2`].entries())
    await post(run, items[k], { group_id }, 'lost')
  const send = async (rollout_id: string) => {
    const sample = { item_id: items[4].id, completion: rollout_id, rollout_id }
    expect((await call('POST', `/runs/${run}/samples`, { samples: [sample] })).status).toBe(200)
  }
  const gather = async (groups: number) => {
    for (const name of ['a', 'b']) await send(name)
    await until(
      async () => (await call('GET', `/runs/${run}`)).body.progress.scored_groups,
      (scored) => scored === groups,
    )
  }
  await gather(5)
  expect((await rewind(run, 0, { resume_id: '\ud800' })).body.voided.groups).toBe(5)
  const { groups } = (await call('GET', `/runs/${run}/groups?destination=rewound`)).body
  expect(new Set(groups.map((group: { item_id: string }) => group.item_id)).size).toBe(5)
  await gather(1)
})

describe('a fork', () => {
  const fork = (run: string, body: object) => world.call('POST', `/runs/${run}/fork`, body)

  it.each(['curriculum', 'frontier'])(
    'at a step, or now, goes on as its run would have gone on: %s',
    async (complexity_mode) => {
      const run = `parent-${complexity_mode}`
      const [early, late] = [`${run}-early`, `${run}-late`]
      await call('PUT', `/runs/${run}`, { ...SETTINGS, complexity_mode, avoid_repeated_items: true })
      for (let step = 0; step < 3; step++) await train(run, step, 'trained')
      const then = await figures(run)
      for (let step = 3; step < 5; step++) await train(run, step, 'lost')
      await call('POST', '/items', { run, step: 5, count: 2 })
      const now = await figures(run)
      expect(await fork(run, { name: early, step: 2 })).toMatchObject({
        status: 201,
        body: { forked_from: { run, step: 2 }, forks: [] },
      })
      expect(await fork(run, { name: late, settings: { batch_size: 8 } })).toMatchObject({
        status: 201,
        body: { settings: { batch_size: 8 } },
      })
      expect(await fork(run, { name: early, step: 2 })).toMatchObject({ status: 200, body: { run: early } })
      expect((await fork(run, { name: early, step: 3 })).body.code).toBe('run_exists')
      // the windows of the diagnosis are those of groups that a fork does not have
      const comparable = ({ lines, history, state, issued, steps, view }: Awaited<ReturnType<typeof figures>>) => {
        const { run: _run, settings: _settings, ...rest } = state
        // a fork has the fields of its hashes in another order
        const rows = lines.split('\n').map((line: string) => (line === '' ? null : JSON.parse(line)))
        return { rows, history, rest, issued, steps, progress: view.progress }
      }
      expect(comparable(await figures(early))).toEqual(comparable(then))
      expect(comparable(await figures(late))).toEqual(comparable(now))
      expect((await call('GET', `/runs/${run}`)).body.forks).toEqual([early, late])
      expect((await rewind(early, 2)).status).toBe(200) // its trainer says that it resumes from step 2
      expect((await rewind(run, 2)).status).toBe(200)
      expect(await train(early, 3, 'trained')).toEqual(await train(run, 3, 'trained'))
      await call('DELETE', `/runs/${early}`)
      expect((await call('GET', `/runs/${run}`)).body.forks).toEqual([late])
    },
  )

  it('that a kill interrupts does not exist, and the next call makes it', async () => {
    await call('PUT', '/runs/cut', SETTINGS)
    const { runs, epochs } = world.features.runs
    const { redis, keys } = world.platform
    const [run, checkpoints] = [await runs.require('cut'), new CheckpointRepository(redis, keys, epochs)]
    await Promise.all(Array.from({ length: 1200 }, (_, k) => checkpoints.addFork(run, `deleted-${k}`)))
    await checkpoints.addFork(run, 'half') // as far as the call got
    expect(await redis.zcard(createRunKeys(keys).forRun('cut', run.epoch).forks)).toBe(1000)
    expect((await call('GET', '/runs/cut')).body.forks).toEqual([])
    const ranks = await Promise.all([1, 2, 3].map(() => fork('cut', { name: 'half' }))) // at one moment
    expect(ranks.map(({ status }) => String(status)).toSorted()).toEqual(['200', '200', '201'])
    expect(ranks.map(({ body }) => body.incarnation)).toEqual(Array(3).fill(ranks[0]?.body.incarnation))
    expect((await call('GET', '/runs/cut')).body.forks).toEqual(['half'])
  })
})
