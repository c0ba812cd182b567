/** Entries in Redis that cannot be read, such as after a fault of memory or of another program: each is set aside and logged. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOpenGroupKeys } from '../../../src/features/adapters/open-groups/repository.ts'
import { createBatchKeys } from '../../../src/features/batches/repository.ts'
import { createDumpKeys } from '../../../src/features/dumps/repository.ts'
import { createGenerationJobKeys } from '../../../src/features/evals/records.ts'
import { createRunKeys } from '../../../src/features/runs/records.ts'
import { openWorld, takeItems, until, type World } from '../../world.ts'
import { scrapeText } from '../operations/reading.ts'

const TASK = 'leg_counting'
const CORRUPT = ['{"opened', '{}', '[1]', 'null', '7', '"text"', '{"opened":null,"task":[]}', ''] as const

let world: World
const lines: Record<string, unknown>[] = []

beforeAll(async () => {
  world = await openWorld({ worker: true, onLog: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) })
})
afterAll(() => world.close())

async function begin(run: string, settings: object = {}) {
  expect((await world.call('PUT', `/runs/${run}`, { tasks: [TASK], ...settings })).status).toBe(201)
  return keysOf(run)
}

async function keysOf(run: string) {
  const { epoch } = await world.features.runs.runs.require(run)
  const { platform } = world
  return {
    ...createBatchKeys(platform.keys).forRun(run, epoch),
    ...createOpenGroupKeys(platform.keys).forRun(run, epoch),
  }
}

const getItems = (run: string, count: number): Promise<{ id: string }[]> => takeItems(world, run, count)

const getStep = async (run: string, step: number, count: number): Promise<{ id: string }[]> => {
  const reply = await world.call('POST', '/items', { run, step, count }, { prefer: 'wait=60' })
  expect(reply).toMatchObject({ status: 200 })
  expect(reply.body.items).toHaveLength(count)
  return reply.body.items
}

/** Takes items until the positions are among those that are leased, which it returns: a position that is late is passed by. */
const takeUntil = async (run: string, positions: string[]): Promise<string[]> => {
  const { leaseExpiries } = await keysOf(run)
  return until(
    async () => {
      await getItems(run, 1)
      return world.platform.redis.zrange(leaseExpiries, '0', '-1')
    },
    (leased) => positions.every((position) => leased.includes(position)),
  )
}

/** Posts a group, and returns where it went. */
async function post(run: string, item_id: string, group_id: string): Promise<string> {
  const rollouts = [{ completion: '<answer>100</answer>' }, { completion: '<answer>2</answer>' }]
  const body = { run, item_id, group_id, rollouts, buffer: true }
  const reply = await world.call('POST', '/rollouts', body, { prefer: 'wait=20' })
  expect(reply.body).toMatchObject({ status: 'scored' })
  return reply.body.destination
}

/** What the log says of an entry of a run. */
const logged = (run: string, entry: string | number) =>
  lines.filter((line) => line.run === run && line.member === String(entry) && 'key' in line)

it('states of positions: the items are made again, a lease ends, and the queue goes on', async () => {
  for (const [k, text] of CORRUPT.entries()) {
    const run = `queue-${k}`
    const keys = await begin(run)
    const { redis } = world.platform
    await getItems(run, 1)
    const [leased = ''] = await redis.zrange(keys.leaseExpiries, '0', '-1')
    const open = await redis.zrange(keys.openPositions, '0', '1')
    for (const position of open) await redis.hset(keys.positionStates, position, text)
    await redis.hset(keys.leasedItems, leased, text)
    await redis.zadd(keys.leaseExpiries, 1, leased)
    expect((await world.call('GET', `/runs/${run}/checkpoint`)).status).toBe(200)
    const positions = await takeUntil(run, open)
    expect(positions).not.toContain(leased)
    for (const entry of [leased, ...open]) expect(logged(run, entry)).not.toEqual([])
  }
})

it('a position that has lost its state or its body, and the stored positions of a step', async () => {
  const keys = await begin('lost')
  const { redis } = world.platform
  await getItems('lost', 1)
  await until(
    () => redis.hlen(keys.itemBodies),
    (made) => made > 1,
  )
  const [stateless = '', bodiless = ''] = await redis.zrange(keys.openPositions, '0', '1')
  await redis.hdel(keys.positionStates, stateless)
  await redis.hset(keys.itemBodies, bodiless, '{"cut')
  await takeUntil('lost', [stateless, bodiless])
  const step = await getStep('lost', 1, 2)
  await redis.hset(keys.issuedItems, '0', (await redis.hgetBuffer(keys.issuedItems, '0'))?.subarray(0, 15) ?? '')
  expect(await getStep('lost', 1, 2)).toHaveLength(2)
  await redis.hset(keys.stepPositions, '0', ';1=odd')
  expect(await getStep('lost', 1, 2)).not.toEqual(step)
  for (const entry of [stateless, bodiless, 1]) expect(logged('lost', entry)).not.toEqual([])
})

it('the curriculum of a task, which then starts again, and a piece of its evidence', async () => {
  const { redis } = world.platform
  for (const mode of ['curriculum', 'frontier'] as const) {
    const keys = await begin(mode, { complexity_mode: mode })
    const [before] = await getItems(mode, 1)
    await redis.hset(keys.curriculum, TASK, '{"level":[]}')
    await redis.rpush(keys.frontierEvidence, '{"step":')
    await post(mode, before?.id ?? '', 'a')
    await getItems(mode, 3)
    expect((await world.call('GET', `/runs/${mode}`)).status).toBe(200)
    expect((await world.call('PUT', `/runs/${mode}`, { batch_size: 7 })).status).toBe(200)
    await post(mode, (await getItems(mode, 1))[0]?.id ?? '', 'b')
    expect((await world.call('GET', `/runs/${mode}/checkpoint`)).status).toBe(200)
    expect(logged(mode, TASK)).not.toEqual([])
    if (mode === 'frontier') expect(await redis.llen(keys.frontierEvidence)).toBeLessThan(2)
  }
})

it('the summary of a buffered group, and an open batch', async () => {
  const keys = await begin('batches', { batch_size: 4 })
  const { redis } = world.platform
  const { body: known } = await world.call('POST', '/items', { task: TASK, seed: 42 })
  for (const group of ['a', 'b', 'c', 'd', 'e'])
    expect(await post('batches', known.items[0].id, group)).toBe('buffered')
  await redis.hset(keys.groupSummaries, 'a', '{"id":"a"')
  await redis.hset(keys.groupSummaries, 'c', '{"id":"c"}')
  const take = async (step: number) => {
    const { status, body } = await world.call('POST', '/runs/batches/batches', { step, final: true })
    expect(status).toBe(200)
    return body.groups.map(({ group_id }: { group_id: string }) => group_id)
  }
  expect(await take(0)).toEqual(['b', 'd'])
  for (const group of ['a', 'c']) expect(logged('batches', group)).not.toEqual([])
  expect((await world.call('GET', '/runs/batches')).body.progress).toMatchObject({ buffered_groups: 1 })
  await redis.hset(keys.batch(0), 'batch', '{"format":2,"cut')
  expect(await take(0)).toEqual(['e'])
  await redis.hset(keys.batch(0), 'batch', '{"format":2,"cut')
  expect((await world.call('POST', '/runs/batches/batches/0/ack')).status).toBe(200)
  expect(logged('batches', 'batch')).not.toEqual([])
  expect(await redis.hget(keys.backlog, 'open_batch_groups')).toBe('0')
})

it('samples and closed groups: the sweep of other groups and of other runs goes on', async () => {
  const keys = await begin('samples', { group_size: 2, open_group_timeout_s: 1 })
  const other = await begin('samples-2', { group_size: 2, open_group_timeout_s: 1 })
  const { redis } = world.platform
  const items = await getItems('samples', 3)
  const send = (run: string, item_id = '') =>
    world.call('POST', `/runs/${run}/samples`, { adapter: 'areal', samples: [{ item_id, completion: 'x' }] })
  for (const { id } of items) await send('samples', id)
  await send('samples-2', items[0]?.id)
  await redis.zadd(keys.pendingSamples, 1, 'odd')
  await redis.zadd(keys.closedGroups, 1, 'lost')
  await redis.hset(keys.closedGroup('odd'), { item_id: items[0]?.id, order: 'p.1', 'texts:p.1': 'odd' })
  await redis.zadd(keys.closedGroups, 2, 'odd')
  const [open = ''] = await redis.zrange(keys.openGroups, '0', '-1')
  await redis.hset(keys.openGroup(open), { 'pending:p.2': '{"call"', 'texts:p.2': 'odd', pending: 1 })
  await redis.zadd(keys.pendingSamples, 1, `${open} p.2`)
  for (const run of ['samples', 'samples-2'])
    await until(
      async () => {
        await world.features.adapters.openGroups.sweep({ abandonedMs: -1000, leftMs: -1000 })
        return (await world.call('GET', `/runs/${run}`)).body.progress
      },
      ({ open_groups, groups }) => open_groups === 0 && groups === (run === 'samples' ? 3 : 1),
    )
  expect(await redis.zcard(keys.closedGroups)).toBe(0)
  expect(await redis.zcard(other.closedGroups)).toBe(0)
  for (const entry of ['odd', 'p.2']) expect(logged('samples', entry)).not.toEqual([])
})

it('the texts of a queued group, which then fails like one whose texts are lost', async () => {
  const keys = await begin('texts')
  const { redis } = world.platform
  const { body: known } = await world.call('POST', '/items', { task: TASK, seed: 42 })
  await world.stopWorkers()
  const groups = ['odd', 'good'].map((group_id) => ({
    item_id: known.items[0].id,
    group_id,
    rollouts: [{ completion: '<answer>100</answer>' }],
  }))
  expect((await world.call('POST', '/rollouts', { run: 'texts', groups })).status).toBe(202)
  const { epoch } = await world.features.runs.runs.require('texts')
  await redis.set(keys.texts('odd'), '(odd')
  const readTexts = async (group: string) =>
    (await world.features.rollouts.groups.getQueued({ run: 'texts', epoch, group }))?.texts
  expect(await readTexts('odd')).toBeUndefined()
  expect(await readTexts('good')).toBeDefined()
  expect(lines.filter(({ run, member }) => run === 'texts' && member === 'odd')).not.toEqual([])
  world.startWorker()
})

it('a record that waits for a dump file, and the entry of a sealed file', async () => {
  await begin('dumped', { dump_rollouts: 'all' })
  const { redis, keys } = world.platform
  const { body: known } = await world.call('POST', '/items', { task: TASK, seed: 42 })
  for (const group of ['a', 'b']) await post('dumped', known.items[0].id, group)
  const { incarnation } = await world.features.runs.runs.require('dumped')
  const dumped = createDumpKeys(keys).forDumps('dumped', incarnation)
  await redis.lset(dumped.pendingRecords('rollouts'), 0, 'odd')
  await world.features.dumps.dumps.repository.sealFiles(
    { run: 'dumped', uuid: incarnation },
    'rollouts',
    Number.MAX_SAFE_INTEGER,
  )
  await redis.hset(dumped.unwrittenFiles, 'rollouts/0', '{"cut')
  await world.features.dumps.dumps.writeAllPending(new AbortController().signal)
  const { files } = (await world.call('GET', '/dumps?run=dumped')).body
  expect(files).toMatchObject([{ groups: 1 }])
  expect(logged('dumped', 'rollouts/0')).not.toEqual([])
  const leftOut = lines.filter(({ run, msg }) => run === 'dumped' && String(msg).includes('left out'))
  expect(leftOut).not.toEqual([]) // one line for each attempt to write the file
  await redis.hset(dumped.writtenFiles, 'odd.jsonl', '{"name":')
  expect((await world.call('GET', '/dumps?run=dumped')).body.files).toEqual(files)
  expect(logged('dumped', 'odd.jsonl')).not.toEqual([])
})

it('the record of a run: the sweeps go on with the other runs', async () => {
  await begin('damaged')
  await begin('sound')
  const { redis, keys } = world.platform
  await redis.hset(createRunKeys(keys).run('damaged'), 'completed', 'odd')
  const { runs, rollouts, evals, adapters, dumps, operations } = world.features
  await dumps.repository.markOpen({ run: 'damaged', uuid: 'any' })
  await redis.zadd(createGenerationJobKeys(keys).activeGenerationJobs, 1, 'damaged')
  await redis.zadd(createGenerationJobKeys(keys).generationJobs('eval'), 1, 'damaged')
  await redis.hset(createGenerationJobKeys(keys).forGenerationJob('damaged').job, { spec: '{"cut', status: 'queued' })
  const works = [runs, evals, adapters, dumps, operations].map((feature) => feature.createWork())
  const tasks = [...works, rollouts.createWork(dumps.groupDumps)].flatMap(({ scheduledTasks = [] }) => scheduledTasks)
  for (const task of tasks) await task.run()
  const skipped = lines.filter(({ run, id, msg }) => [run, id].includes('damaged') && String(msg).includes('swept'))
  expect(skipped.length).toBeGreaterThan(6)
  await redis.lpush(keys.key('hourly-series'), '{"cut')
  await redis.hset(keys.key('process-reports'), 'gone', '{"cut')
  for (const path of ['/overview', '/runs', '/eval'])
    await until(
      async () => [path, (await world.app.inject(path)).statusCode],
      ([, status]) => status === 200, // 503 where Redis takes long
    )
  expect(await scrapeText(world)).toContain('run="sound"')
  await redis.zrem(createGenerationJobKeys(keys).activeGenerationJobs, 'damaged')
  expect(await redis.zcard(createGenerationJobKeys(keys).generationJobs('eval'))).toBe(1)
  await redis.hdel(createRunKeys(keys).run('damaged'), 'completed') // this world's own sweeps would go on to log it
})
