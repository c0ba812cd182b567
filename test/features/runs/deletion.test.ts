import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { BatchRepository } from '../../../src/features/batches/repository.ts'
import { AuditScoring } from '../../../src/features/rollouts/audit-scoring.ts'
import {
  createCompletionEffects,
  createCompletionRecording,
} from '../../../src/features/rollouts/completion-effects.ts'
import { CompletionRepository } from '../../../src/features/rollouts/completion-repository.ts'
import { OutcomeBuilder } from '../../../src/features/rollouts/group-counters.ts'
import { createGroupGrading } from '../../../src/features/rollouts/group-grading.ts'
import { createGroupKeys } from '../../../src/features/rollouts/records.ts'
import { createScoreGroupProcessor } from '../../../src/features/rollouts/score-group.ts'
import { createRunKeys, runSlot } from '../../../src/features/runs/records.ts'
import { PositionRepository } from '../../../src/features/runs/sequence/positions.ts'
import { RequestedPositions } from '../../../src/features/runs/sequence/requested.ts'
import type { ResolvedRun } from '../../../src/features/runs/types.ts'
import { keysOf, openWorld, takeItems, until, type World } from '../../world.ts'

let world: World
let itemId: string
beforeAll(async () => {
  world = await openWorld({ JOB_LOCK_S: 2 })
  const made = await until(
    () => world.call('POST', '/items', { task: 'leg_counting', seed: 3 }),
    ({ status }) => status === 200,
  )
  itemId = made.body.items[0].id
})
afterEach(async () => {
  vi.restoreAllMocks()
  await world.stopWorkers()
})
afterAll(() => world.close())

const SETTINGS = { tasks: ['chain_sum', 'gcd'], complexity_mode: 'curriculum', batch_size: 4, group_size: 2 }

const begin = async (run: string): Promise<ResolvedRun> => {
  expect((await world.call('PUT', `/runs/${run}`, SETTINGS)).status).toBe(201)
  return world.features.runs.runs.require(run)
}
const remove = async (run: string) => expect((await world.call('DELETE', `/runs/${run}`)).status).toBe(204)
const post = (run: string, group_id: string, wait = 0) => {
  const rollouts = [
    { completion: 'x', tokens: [1] },
    { completion: '<answer>1</answer>', tokens: [2] },
  ]
  return world.call('POST', '/rollouts', { run, item_id: itemId, group_id, rollouts }, { prefer: `wait=${wait}` })
}
/** All keys of the run, in whichever epoch; of its dumps too. */
const keysOfRun = (run: string) => keysOf(world.platform.redis, `${runSlot(world.platform.keys, run)}*`)
const keysOfEpoch = ({ name, epoch }: ResolvedRun) =>
  Promise.all(
    [`${runSlot(world.platform.keys, name)}:${epoch}:*`, `${world.prefix}:payload:${name}:${epoch}:*`].map((pattern) =>
      keysOf(world.platform.redis, pattern),
    ),
  ).then((found) => found.flat())
const isGone = (run: ResolvedRun) =>
  until(
    () => keysOfEpoch(run),
    (keys) => keys.length === 0,
  )
/** What the fleet does every few seconds. */
const sweep = () =>
  world.features.runs
    .createWork()
    .scheduledTasks?.find(({ name }) => name === 'sweep-epochs')
    ?.run()
const isListed = async (run: string): Promise<boolean> =>
  (await world.call('GET', '/runs')).body.runs.some((one: { run: string }) => one.run === run)

describe('a name is free at once', () => {
  it('what a new run accepts stays when the keys of the old one are removed after it', async () => {
    const old = await begin('again')
    for (const id of ['a', 'b']) expect((await post('again', id)).status).toBe(202)
    await remove('again')
    expect((await world.call('GET', '/runs/again')).body.code).toBe('unknown_run')
    const next = await begin('again')
    expect(next.incarnation).not.toBe(old.incarnation)
    expect((await post('again', 'a')).status).toBe(202)
    expect((await post('again', 'c')).status).toBe(202)
    expect(await keysOfEpoch(old)).not.toEqual([])
    world.startWorker()
    await isGone(old)
    for (const id of ['a', 'c']) {
      await until(
        () => world.call('GET', `/rollouts/${id}?run=again`),
        ({ body }) => body.status === 'scored',
      )
    }
    expect((await world.call('GET', '/rollouts/b?run=again')).body.code).toBe('unknown_group')
    expect((await world.call('GET', '/runs/again')).body.progress).toMatchObject({ groups: 2, scored_groups: 2 })
    expect(await isListed('again')).toBe(true)
  })

  it('while a Redis with many keys is at work on the deletion, as afterwards', async () => {
    const { redis } = world.platform
    const filler = Array.from({ length: 40_000 }, (_, k) => `{${world.prefix}:filler}:${k}`)
    const chunks = Array.from({ length: 8 }, (_, k) => filler.slice(k * 5000, (k + 1) * 5000))
    for (const chunk of chunks) await redis.mset(...chunk.flatMap((key) => [key, '']))
    world.startWorker()
    for (const afterMs of [5, 20, 60]) {
      await begin('busy')
      const deleted = world.call('DELETE', '/runs/busy')
      await new Promise((resolve) => setTimeout(resolve, afterMs))
      const ids = ['a', 'b', 'c', 'd']
      const outcomes = []
      await until(
        () => world.call('PUT', '/runs/busy', SETTINGS),
        ({ status }) => status === 201,
      )
      const run = await world.features.runs.runs.get('busy')
      for (const id of ids) outcomes.push((await post('busy', id)).status)
      await deleted
      const now = await world.features.runs.runs.get('busy')
      expect([now?.incarnation, ...outcomes]).toEqual([run?.incarnation, 202, 202, 202, 202])
      for (const id of ids) expect([200, 202]).toContain((await world.call('GET', `/rollouts/${id}?run=busy`)).status)
      expect(await isListed('busy')).toBe(true)
      await remove('busy')
    }
    for (const chunk of chunks) await redis.unlink(...chunk)
  })

  it('a deletion that comes late, or again, leaves a later run of the name alone', async () => {
    const old = await begin('twice')
    const answers = await Promise.all(Array.from({ length: 6 }, () => world.call('DELETE', '/runs/twice')))
    expect(answers.every(({ status }) => status === 204 || status === 404)).toBe(true)
    expect(answers.some(({ status }) => status === 204)).toBe(true)
    const next = await begin('twice')
    const { runs } = world.features.runs
    vi.spyOn(runs, 'require').mockResolvedValueOnce(old) // as a call saw it that was held up before it deleted
    await runs.delete('twice')
    expect((await runs.get('twice'))?.incarnation).toBe(next.incarnation)
    world.startWorker()
    await isGone(old)
    expect((await runs.get('twice'))?.incarnation).toBe(next.incarnation)
  })

  it('a new run gets no epoch that is still to be removed, even if a clock goes back', async () => {
    const { redis, keys } = world.platform
    const ahead = Date.now() + 3_600_000
    await redis.zadd(createRunKeys(keys).discardedEpochs('back'), 1, ahead)
    expect((await begin('back')).epoch).toBeGreaterThan(ahead)
  })
})

/** Keys of the whole server, one each or one for each adapter, that it has as long as it exists. */
const SERVER_KEYS =
  /:(fleet-totals|hourly-series|process-reports|engine-processes|storage-format|task-statistics|dump-space|adapter-usage:[\w-]+)$/

/** All other keys without an expiry, except those of the job queues and of other runs, for which workers make items. */
async function listLastingKeys(): Promise<string[]> {
  const { redis, keys } = world.platform
  const all = await keysOf(redis, `*${world.prefix}*`)
  const names = all.filter(
    (key) => !key.startsWith(keys.queuePrefix) && !SERVER_KEYS.test(key) && !/:run:(?!full\})/.test(key),
  )
  const expiries = await Promise.all(names.map((key) => redis.pttl(key)))
  return names.filter((_, k) => expiries[k] === -1)
}

/** One call of each wire that names the run. */
async function useWires(run: string, item_id: string): Promise<void> {
  const calls = {
    [`/runs/${run}/samples`]: { adapter: 'areal', samples: [{ item_id, completion: 'x', rollout_id: 'named' }] },
    [`/openrlhf/${run}/get_reward?unscored=mean`]: { query: ['px'], prompts: ['p'], labels: [item_id] },
    [`/slime/${run}/rm`]: { response: 'x', label: item_id },
  }
  for (const [url, body] of Object.entries(calls))
    expect({ url, ...(await world.call('POST', url, body)) }).toMatchObject({ url, status: 200 })
}

/** A run with all that a run can hold. */
async function beginFull(run: string): Promise<ResolvedRun> {
  const { call } = world
  await call('PUT', `/runs/${run}`, { ...SETTINGS, keep_groups: 3, drop_equal_scores: false, min_trained_tokens: 0 })
  await takeItems(world, run, 3)
  await until(
    () => call('POST', '/items', { run, step: 1, count: 3 }, { prefer: 'wait=20' }),
    ({ status }) => status === 200,
  )
  const taken = await until(
    () => call('POST', '/items', { run, count: 1 }, { prefer: 'wait=20' }),
    ({ body }) => body.items?.length > 0,
  )
  const [item] = taken.body.items
  await call('POST', '/rollouts', { run, item_id: item.id, rollouts: [{ completion: 'x' }] }, { prefer: 'wait=20' })
  for (let k = 0; k < 7; k++) expect((await post(run, `g${k}`, 20)).body.status).toBe('scored')
  await useWires(run, item.id)
  for (const step of [0, 1]) expect((await call('POST', `/runs/${run}/batches`, { step })).status).toBe(200)
  expect((await call('POST', `/runs/${run}/batches/0/ack`)).status).toBe(200)
  return world.features.runs.runs.require(run)
}

describe('nothing of it stays', () => {
  it('whatever a run held: no key has its name in it once its keys are removed', async () => {
    world.startWorker()
    const lasting = await listLastingKeys()
    const run = await beginFull('full')
    const checkpoint = (await world.call('GET', '/runs/full/checkpoint')).body
    const kinds = new Set((await keysOfEpoch(run)).map((key) => key.split(':')[4]))
    for (const kind of [
      'group',
      'batch',
      'issued-recipes',
      'step-positions',
      'step-sums',
      'lease-expiries',
      'all-groups',
      'buffer',
      'recent-outcomes',
      'counted-rollouts',
      'step-state',
      'at-step',
    ])
      expect(kinds).toContain(kind)

    expect((await world.call('PUT', '/runs/full/checkpoint', checkpoint)).status).toBe(200)
    await isGone(run)
    const restored = await world.features.runs.runs.require('full')
    expect(await keysOfEpoch(restored)).not.toEqual([])

    await remove('full')
    const { redis } = world.platform
    await until(
      async () => {
        const keys = (await keysOf(redis, `*${world.prefix}*`)).filter((key) => /\bfull\b/.test(key))
        const expiries = await Promise.all(keys.map((key) => redis.pttl(key)))
        return keys.filter((key, k) => expiries[k] === -1 || key.includes('run:full}'))
      },
      (keys) => keys.length === 0,
    )
    await until(
      () => world.features.runs.index.listNames(),
      (names) => !names.includes('full'),
    )
    expect((await listLastingKeys()).filter((key) => !lasting.includes(key))).toEqual([])
  })

  it('a group is listed for as long as it has a key', async () => {
    world.startWorker()
    const run = await beginFull('listed')
    const { redis, keys } = world.platform
    const { allGroups, group } = createGroupKeys(keys).forRun(run.name, run.epoch)
    const stored = (await keysOf(redis, `${group('')}*`)).map((key) => key.slice(group('').length))
    expect(await redis.zrange(allGroups, '0', '-1')).toEqual(expect.arrayContaining(stored))
    for (const id of stored) {
      const [expiry, ttl] = [await redis.zscore(allGroups, id), await redis.pttl(group(id))]
      if (ttl === -1) expect(expiry).toBe('inf')
      else expect(Math.abs(Number(expiry) - Date.now() - ttl)).toBeLessThan(60_000)
    }
    await redis.zadd(allGroups, 1, 'expired')
    expect((await world.call('POST', '/runs/listed/batches/1/ack')).status).toBe(200)
    expect(await redis.zscore(allGroups, 'expired')).toBeNull()
    await remove('listed')
    await isGone(run)
  })

  it('a restore that breaks off before it starts leaves nothing once its reservation is over', async () => {
    const { redis, keys } = world.platform
    const run = await begin('broken')
    const checkpoint = (await world.call('GET', '/runs/broken/checkpoint')).body
    vi.spyOn(world.features.runs.runs, 'get').mockResolvedValueOnce({ ...run, epoch: run.epoch - 1 }) // it was restored meanwhile
    expect((await world.call('PUT', '/runs/broken/checkpoint', checkpoint)).status).toBe(200)
    const after = await world.features.runs.runs.require('broken')
    const name = createRunKeys(keys).discardedEpochs('broken')
    const lost = after.epoch + 10
    await redis.zadd(name, Date.now() + 60_000, lost)
    await redis.set(`${runSlot(keys, 'broken')}:${lost}:curriculum`, 'written before the process died')
    world.startWorker()
    await isGone(run)
    await sweep()
    expect(await keysOfEpoch({ ...run, epoch: lost })).toHaveLength(1)
    await redis.zadd(name, 1, lost)
    await sweep()
    await isGone({ ...run, epoch: lost })
    expect((await world.features.runs.runs.get('broken'))?.epoch).toBe(after.epoch)
    await until(
      () => redis.exists(name),
      (there) => there === 0,
    )
  })

  it('of restores at one moment one counts, and the others leave nothing', async () => {
    world.startWorker()
    await beginFull('many')
    const checkpoint = (await world.call('GET', '/runs/many/checkpoint')).body
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, k) =>
        world.call('PUT', '/runs/many/checkpoint', {
          ...checkpoint,
          counters: { ...checkpoint.counters, groups: 100 + k },
          curriculum: { gcd: { level: k / 10, scores: [] } },
        }),
      ),
    )
    expect(answers.map(({ status }) => status).every((status) => [200, 409, 503].includes(status))).toBe(true)
    const { counters, curriculum } = (await world.call('GET', '/runs/many/checkpoint')).body
    expect(curriculum.gcd.level).toBe((counters.groups - 100) / 10)
    const { epoch } = await world.features.runs.runs.require('many')
    await until(
      async () => (await keysOfRun('many')).filter((key) => /:\d+:/.test(key) && !key.includes(`:${epoch}:`)),
      (keys) => keys.length === 0,
    )
    await remove('many')
  })
})

const noAudits = { loadRule: async () => {}, scoreCached: () => undefined, scoreInLibrary: async () => [] }

describe('work in flight for a run that is gone', () => {
  it('writes nothing, wherever it was, and does not create the run', async () => {
    world.startWorker()
    const run = await beginFull('late')
    await world.stopWorkers()
    expect((await post('late', 'queued')).status).toBe(202)
    const { redis, keys } = world.platform
    const { groups, submission } = world.features.rollouts
    const ref = { run: run.name, epoch: run.epoch, group: 'queued' }
    const before = await keysOfEpoch(run)
    await remove('late')
    // The keys are still there: a worker that holds the job reads the group.
    const { runs, itemQueue, frontier } = world.features.runs
    const unused = {} as never
    const verdict = {
      status: 'scored',
      reward: 1,
      score: 1,
      answer: '1',
      fault: null,
      components: { correct: 1, format: 1, length_penalty: 0, try_discount: 0 },
    } as const
    const { items } = world.features.items
    const { recorder, log } = world.platform
    const audits = new AuditScoring({
      grader: { ...noAudits, isNative: () => true },
    })
    const score = createScoreGroupProcessor({
      engine: world.engine,
      groups,
      runs,
      requeueAlone: async () => {},
      gradeQueued: createGroupGrading({
        items,
        grader: { grade: async () => [verdict, verdict], countGraded: () => {} },
        log,
      }),
      recordCompletion: createCompletionRecording({
        completions: new CompletionRepository({ redis, keys }),
        items,
        tasks: world.features.tasks.tasks,
        dumps: world.features.dumps.groupDumps,
        frontier,
        outcomes: new OutcomeBuilder(world.features.tasks.cards, log),
        audits,
      }),
      afterCompletion: createCompletionEffects({ recorder, audits, formatFaults: unused, itemQueue, frontier, log }),
    })
    expect(await groups.getQueued(ref)).toBeDefined()
    await score(ref, { attempt: 1, isLastAttempt: true })
    expect(await runs.get('late')).toBeUndefined()

    const positions = new PositionRepository(redis, keys)
    const batches = new BatchRepository({ redis, keys })
    const requested = new RequestedPositions(redis, keys)
    const open = { kind: 'open' as const, prefetchTarget: 100 }
    const ofStep = { kind: 'requested' as const, positions: [0], by: 'step' as const }
    const skipped = {
      position: 0,
      task: 'gcd',
      seed: 1,
      difficulty: null,
      reason: 'failed' as const,
      detail: '',
      time: '',
    }
    const made = { position: 0, task: 'gcd', difficulty: null, body: '{}' }
    const ask = { isFinal: true, prefetchTarget: 900, leaseMs: 1000, maxAhead: null }
    const late = async () => {
      expect(await positions.take(run, 5, ask)).toBeUndefined()
      for (const outcome of [
        await requested.requestStep(run, 9, { count: 2, prefetchTarget: 100 }),
        await requested.requestPositions(run, 9, { count: 2, prefetchTarget: 100 }),
      ])
        expect(outcome).toEqual({ kind: 'run_changed' })
      expect(await positions.claim(run, open, 4)).toEqual([])
      expect(await positions.claim(run, ofStep, 4)).toEqual([])
      expect(await positions.store(run, open, made)).toBe('not_wanted')
      expect(await positions.store(run, ofStep, made)).toBe('not_wanted')
      expect(await positions.release(run, open, skipped, 'item')).toBe(false)
      expect(await groups.reopen(ref)).toBe(false)
      expect(await batches.acknowledge(run, 1, undefined, 3)).toBe('epoch_changed')
      const how = { targetRollouts: 2, minRollouts: 1, policyVersion: 2, maxLag: 0 }
      const composition = {
        step: 2,
        rewinds: 0,
        ...how,
        awaitQueued: false,
        balance: 'tokens',
        unscored: 'omit',
        maxRetainedGroups: 3,
      } as const
      expect(await batches.compose(run, composition)).toEqual({ kind: 'run_changed' })
      const change = { restart: true, remake: true }
      expect(await world.features.runs.repository.updateSettings('late', run, {}, change)).toBe(false)
    }
    await late()
    expect((await keysOfEpoch(run)).toSorted()).toEqual(before.toSorted())
    world.startWorker()
    await isGone(run)
    await world.stopWorkers()
    await late()
    expect(await keysOfRun('late')).toEqual([])

    // Nor does it touch the run that comes next.
    await begin('late')
    const untouched = await redis.hgetall(createRunKeys(keys).run('late'))
    await late().catch(() => {})
    await score(ref, { attempt: 1, isLastAttempt: true })
    expect(await redis.hgetall(createRunKeys(keys).run('late'))).toEqual(untouched)
    expect(submission).toBeDefined()
  })
})

describe('the removal', () => {
  /** A run with so many groups that its removal takes a while. */
  async function beginLarge(run: string, size: number): Promise<ResolvedRun> {
    const stored = await begin(run)
    const { redis, keys } = world.platform
    const { allGroups, group, texts } = createGroupKeys(keys).forRun(run, stored.epoch)
    for (let first = 0; first < size; first += 2000) {
      const ids = Array.from({ length: Math.min(2000, size - first) }, (_, k) => `g${first + k}`)
      const pipeline = redis.pipeline()
      for (const id of ids) pipeline.hset(group(id), 'status', 'queued').set(texts(id), 'x')
      await pipeline.exec()
      await redis.zadd(allGroups, ...ids.flatMap((id) => ['+inf', id]))
    }
    return stored
  }

  it('is taken up by another worker when one is killed in the middle', async () => {
    const size = 6000
    const run = await beginLarge('large', size)
    const script = new URL('removing-worker.ts', import.meta.url).pathname
    const args = [script, inject('redisUrl'), world.prefix, String(size / 2)]
    const exited = once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit')
    await remove('large')
    expect(await exited).toEqual([null, 'SIGKILL'])
    const left = (await keysOfEpoch(run)).length
    expect(left).toBeGreaterThan(1)
    expect(left).toBeLessThan(2 * size)
    await begin('large')
    expect((await post('large', 'new')).status).toBe(202)
    world.startWorker()
    await isGone(run)
    expect((await world.call('GET', '/rollouts/new?run=large')).status).toBe(200)
  })

  it('is found by the sweep when its job is lost, and names that no run has leave the list', async () => {
    const run = await beginLarge('unqueued', 500)
    vi.spyOn(world.platform.producer, 'add').mockResolvedValueOnce(undefined) // the process died before it added the job
    await remove('unqueued')
    await world.features.runs.index.register('never-was')
    world.startWorker()
    await sweep()
    await isGone(run)
    await until(
      () => world.features.runs.index.listNames(),
      (names) => !names.includes('unqueued') && !names.includes('never-was'),
    )
  })
})
