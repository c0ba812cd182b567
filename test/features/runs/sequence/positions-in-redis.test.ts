import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { createRunKeys } from '../../../../src/features/runs/records.ts'
import { RunRepository } from '../../../../src/features/runs/repository.ts'
import {
  PositionRepository,
  type PositionScope,
  type SkippedPosition,
} from '../../../../src/features/runs/sequence/positions.ts'
import { RequestedPositions, type RequestOutcome } from '../../../../src/features/runs/sequence/requested.ts'
import type { StoredRun } from '../../../../src/features/runs/types.ts'
import { connectForWorkers } from '../../../../src/platform/redis/connect.ts'
import { createRedisKeys } from '../../../../src/platform/redis/keys.ts'
import { redisNow } from '../../../../src/platform/redis/redis-clock.ts'
import { deleteKeys, waitForNotification } from '../../../world.ts'

const prefix = `t${randomUUID().slice(0, 8)}`
const redisKeys = createRedisKeys(prefix)
const keys = createRunKeys(redisKeys)
const redis = connectForWorkers({ url: inject('redisUrl'), prefix: '' })
const runs = new RunRepository(redis, redisKeys)
const positions = new PositionRepository(redis, redisKeys)
const requested = new RequestedPositions(redis, redisKeys)
afterAll(async () => {
  await deleteKeys(redis, prefix)
  redis.disconnect()
})

const OPEN: PositionScope = { kind: 'open', prefetchTarget: 4 }
/** Any that the tests ask for. */
const STEP: PositionScope = { kind: 'requested', positions: Array.from({ length: 20 }, (_, k) => k), by: 'step' }
const NUMBER: PositionScope = { ...STEP, by: 'number' }
const TAKE = { isFinal: true, prefetchTarget: 4, leaseMs: 60_000, maxAhead: null }

async function requireRun(name: string): Promise<StoredRun> {
  const run = await runs.get(name)
  if (!run) throw new Error('the run was created')
  return run
}

async function createRun(name: string): Promise<StoredRun> {
  await runs.updateSettings(name, undefined, {}, { restart: false, remake: false })
  return requireRun(name)
}

/** Changes what is stored of the unmade positions. */
async function editUnmade(run: StoredRun, kind: PositionScope['kind'], change: object): Promise<void> {
  const { positionStates, requestedPositions } = keys.forRun(run.name, run.epoch)
  const states = kind === 'open' ? positionStates : requestedPositions
  for (const [position, json] of Object.entries(await redis.hgetall(states)))
    if (json.includes('"opened"'))
      await redis.hset(states, position, JSON.stringify({ ...JSON.parse(json), ...change }))
}
/** However long the test has taken. */
const renew = (run: StoredRun) => editUnmade(run, 'open', { opened: redisNow() + 60_000 })

const claim = async (run: StoredRun, scope: PositionScope, count = 4) =>
  (await positions.claim(run, scope, count)).map(({ position }) => position)
const assign = (run: StoredRun, count: number | 'all' = 1, step = 0) =>
  requested.requestStep(run, step, { count: count === 'all' ? undefined : count, prefetchTarget: 2 })
const request = (run: StoredRun, position: number, count = 1) =>
  requested.requestPositions(run, position, { count, prefetchTarget: 2 })
/** The positions that an outcome is about. */
const numbersOf = (outcome: RequestOutcome) => {
  if (outcome.kind === 'issued') return outcome.items.map(({ position }) => position)
  return 'positions' in outcome ? outcome.positions : outcome.kind
}
const made = (position: number, difficulty: number | null = null) => ({
  position,
  task: 'gcd',
  difficulty,
  body: `{"made":${position}}`,
})
const FAILED = { task: 'gcd', seed: 1, difficulty: null, reason: 'failed', detail: '', time: '' } as const
const failed = (position: number): SkippedPosition => ({ position, ...FAILED })

for (const scope of [OPEN, STEP]) {
  describe(`a position ${scope.kind === 'open' ? 'that is open' : 'of a step'}`, () => {
    const create = async (name: string) => {
      const run = await createRun(`${name}-${scope.kind}`)
      if (scope.kind === 'requested') await assign(run, 4)
      return run
    }
    const moveClaimsBack = (run: StoredRun) => editUnmade(run, scope.kind, { claimed_until: redisNow() - 1 })

    it('is claimed by one process at a time, lowest first, and by another when the time is up', async () => {
      const run = await create('claims')
      expect(await claim(run, scope, 2)).toEqual([0, 1])
      expect(await claim(run, scope)).toEqual([2, 3])
      expect(await claim(run, scope)).toEqual([])
      await moveClaimsBack(run)
      expect(await claim(run, scope)).toEqual([0, 1, 2, 3])
    })

    it('takes the first item that comes for it, and no other', async () => {
      const run = await create('first')
      await claim(run, scope)
      expect(await positions.store(run, scope, made(2))).toBe('stored')
      expect(await positions.store(run, scope, made(2))).toBe('not_wanted')
      await moveClaimsBack(run)
      expect(await claim(run, scope)).toEqual([0, 1, 3])
    })

    it('does not take an item that was made with settings of before, and is made again', async () => {
      const before = await create('changed')
      await claim(before, scope)
      await runs.updateSettings(before.name, before, { group_size: 8 }, { restart: false, remake: false })
      expect(await positions.store(before, scope, made(0))).toBe('not_wanted')
      const run = await requireRun(before.name)
      expect(await claim(run, scope)).toEqual([0])
      expect(await positions.store(run, scope, made(0))).toBe('stored')
    })

    it('is unmade again after a failure, and skipped after two of its own', async () => {
      const run = await create('fails')
      await claim(run, scope)
      expect(await positions.release(run, scope, failed(1), 'ours')).toBe(false)
      expect(await positions.release(run, scope, failed(1), 'item')).toBe(false)
      expect(await claim(run, scope)).toEqual([1])
      expect(await positions.release(run, scope, failed(1), 'item')).toBe(true)
      expect(await positions.release(run, scope, failed(1), 'item')).toBe(false)
      expect(await positions.listSkipped(run)).toEqual([failed(1)])
      if (scope.kind === 'requested') expect(numbersOf(await assign(run, 4))).toEqual([0, 2, 3, 4]) // in its place
      expect(await claim(run, scope)).toEqual([4])
    })

    it('is announced to those who wait for its item, when it is made and when it is given up', async () => {
      const run = await create('announced')
      const topic = positions.getTopic(run)
      await claim(run, scope)
      await waitForNotification(redisKeys, `${topic}/0`, () => positions.store(run, scope, made(0)))
      await waitForNotification(redisKeys, `${topic}/1`, () => positions.release(run, scope, failed(1), 'ours'))
    })
  })
}

describe('an open position', () => {
  it('is waited for by a call that finds it unmade, until others are taken in its place', async () => {
    const run = await createRun('missing')
    await claim(run, OPEN)
    await positions.store(run, OPEN, made(1))
    await renew(run)
    const waiting = await positions.take(run, 3, { ...TAKE, isFinal: false })
    expect(waiting).toMatchObject({ items: [], missing: ['0', '2'] })
    expect(waiting?.patienceMs).toBeGreaterThan(0)
  })

  it('is leased in its order, and leased again when the lease ends', async () => {
    const run = await createRun('leases')
    await claim(run, OPEN)
    for (const position of [1, 0]) await positions.store(run, OPEN, made(position, 0.1))
    expect(await positions.take(run, 2, { ...TAKE, leaseMs: 0 })).toEqual({
      items: [0, 1].map((position) => ({
        kind: 'stored',
        position,
        difficulty: 0.1,
        body: made(position).body,
        again: false,
      })),
      capacity: 2,
      prefetchedCount: 0,
      missing: [],
      patienceMs: 0,
    })
    expect((await positions.take(run, 2, TAKE))?.items).toEqual(
      [0, 1].map((position) => ({ kind: 'expired', position, difficulty: 0.1, task: 'gcd', again: true })),
    )
    expect((await positions.take(run, 2, TAKE))?.items).toEqual([])
  })

  it('is waited for while it is new, so that items come in their order', async () => {
    const run = await createRun('waits')
    await claim(run, OPEN)
    await positions.store(run, OPEN, made(1))
    await renew(run)
    expect((await positions.take(run, 1, { ...TAKE, isFinal: false }))?.items).toEqual([])
    expect((await positions.take(run, 1, TAKE))?.items).toMatchObject([{ position: 1 }])
  })

  it('is made again when the curriculum leaves the rung of its item, and relabeled while it stays there', async () => {
    const run = await createRun('rungs')
    const { curriculum, run: key } = keys.forRun(run.name, run.epoch)
    const moveTo = (level: number) => redis.hset(curriculum, 'gcd', JSON.stringify({ level: `${level}`, scores: [] }))
    await claim(run, OPEN)
    const placement = { low: 0, high: 0.4, from: 0.25, to: 0.35 }
    await positions.store(run, OPEN, { ...made(0, 0.3), placement })
    await positions.store(run, OPEN, { ...made(1, 0.3), placement })
    await moveTo(0.25)
    expect((await positions.take(run, 1, TAKE))?.items).toMatchObject([{ position: 0, difficulty: 0.25 }])
    await moveTo(0.35)
    expect((await positions.take(run, 1, TAKE))?.items).toEqual([])
    expect(await positions.claim(run, OPEN, 1)).toEqual([{ position: 1, previous: { task: 'gcd' }, triedTasks: [] }])
    expect(await positions.store(run, OPEN, { ...made(1, 0.3), placement })).toBe('not_wanted')
    expect(await claim(run, OPEN, 1)).toEqual([1])
    await redis.hincrby(key, 'revision', 1) // as a rewind does, which keeps what was drawn
    expect(await positions.store(run, OPEN, { ...made(1), task: 'chain_sum' })).toBe('not_wanted')
    expect(await positions.claim(run, OPEN, 1)).toMatchObject([{ previous: { task: 'gcd' } }])
    await redis.hincrby(key, 'revision', -1)
    await moveTo(0.9) // above the task's bounds
    const highest = { low: 0, high: 0.4, from: 0.35, to: 0.45 }
    expect(await positions.store(run, OPEN, { ...made(1, 0.4), placement: highest })).toBe('stored')
    expect((await positions.take(run, 1, TAKE))?.items).toMatchObject([{ position: 1, difficulty: 0.4 }])
  })

  it('is made again when a change of settings says so', async () => {
    const before = await createRun('remade')
    await claim(before, OPEN)
    await positions.store(before, OPEN, made(0))
    await runs.updateSettings(before.name, before, { difficulty: 1 }, { restart: false, remake: true })
    const run = await requireRun(before.name)
    expect((await positions.take(run, 1, TAKE))?.items).toEqual([])
    expect(await positions.claim(run, OPEN, 1)).toEqual([{ position: 0, previous: undefined, triedTasks: [] }])
  })
})

describe('the positions of a step', () => {
  it('are the next open ones, with their items where these are made, and final once all are', async () => {
    const run = await createRun('assigned')
    const { curriculum } = keys.forRun(run.name, run.epoch)
    await claim(run, OPEN)
    const placement = { low: 0, high: 1, from: 0.25, to: 0.35 }
    await positions.store(run, OPEN, { ...made(1, 0.3), placement })
    expect(await assign(run, 2)).toEqual({ kind: 'unmade', positions: [0] })
    await redis.hset(curriculum, 'gcd', JSON.stringify({ level: '0.9', scores: [] }))
    await claim(run, STEP)
    await positions.store(run, STEP, { ...made(0, 0.1 + 0.2), retry: 15 })
    const step = await assign(run, 2)
    expect(step).toEqual({
      kind: 'issued',
      items: [
        { position: 0, difficulty: 0.1 + 0.2, task: 'gcd', retry: 15 },
        { position: 1, difficulty: 0.3, task: 'gcd' },
      ],
    })
    expect(await assign(run, 'all')).toEqual(step)
    expect((await positions.take(run, 1, TAKE))?.items).toEqual([])
  })

  it('have the number that the first call named, and no other', async () => {
    const run = await createRun('counted')
    expect(numbersOf(await assign(run, 3))).toEqual([0, 1, 2])
    expect(await assign(run, 2)).toEqual({ kind: 'other_count', count: 3 })
    expect(numbersOf(await assign(run, 'all'))).toEqual([0, 1, 2])
    expect(numbersOf(await assign(run, 'all', 7))).toEqual([3])
  })

  it('are the same for as long as the run exists', async () => {
    const run = await createRun('again')
    const ask = async (step: number) => numbersOf(await assign(run, 2, step))
    for (let step = 1000; step < 1600; step++) await ask(step)
    expect(await ask(0)).toEqual([1200, 1201])
    expect(await ask(1000)).toEqual([0, 1])
    expect(await ask(1599)).toEqual([1198, 1199])
  })

  it('give way to the next open one, with its item if that is made', async () => {
    const run = await createRun('skipping')
    await assign(run)
    await claim(run, STEP)
    for (const position of await claim(run, OPEN))
      expect(await positions.store(run, OPEN, made(position))).toBe('stored')
    expect(await positions.release(run, STEP, failed(0), 'item')).toBe(false)
    expect(await positions.release(run, STEP, failed(0), 'item')).toBe(true)
    expect(await assign(run)).toEqual({ kind: 'issued', items: [{ position: 1, difficulty: null, task: 'gcd' }] })
    const { openPositions, itemBodies } = keys.forRun('skipping', run.epoch)
    expect(await redis.hkeys(itemBodies)).toEqual(
      (await redis.zrange(openPositions, '0', '-1')).filter((position) => Number(position) < 5),
    )
  })
})

describe('a position that is asked for by its number', () => {
  const makeAll = async (run: StoredRun, from: PositionScope = NUMBER) => {
    for (const position of await claim(run, from, 20)) await positions.store(run, from, made(position, position / 64))
  }
  const tasksOf = (outcome: RequestOutcome) =>
    outcome.kind === 'issued' ? outcome.items.map(({ position, difficulty }) => [position, difficulty]) : outcome

  it('is never handed out by the queue or to a step, whether it was open or far ahead', async () => {
    const run = await createRun('shared')
    await claim(run, OPEN) // opens 0 to 3
    expect(numbersOf(await request(run, 1, 2))).toEqual([1, 2])
    expect(numbersOf(await request(run, 6, 2))).toEqual([6, 7])
    await makeAll(run)
    expect(numbersOf(await assign(run, 3))).toEqual([0, 3, 4])
    const opened = await claim(run, { kind: 'open', prefetchTarget: 4 })
    expect(opened).toEqual([5, 8, 9, 10])
    for (const position of opened) await positions.store(run, OPEN, made(position))
    const taken = (await positions.take(run, 4, TAKE))?.items.map(({ position }) => position)
    expect(taken).toEqual(opened)
    expect(numbersOf(await request(run, 5, 6))).toEqual([5, 6, 7, 8, 9, 10])
  })

  it('has the item that the queue or a step has given out', async () => {
    const run = await createRun('same')
    await claim(run, OPEN)
    await makeAll(run, OPEN)
    for (const position of [0, 1, 2, 3]) await positions.store(run, OPEN, made(position, position / 64))
    expect((await positions.take(run, 2, TAKE))?.items).toHaveLength(2)
    const step = await assign(run, 2)
    expect(tasksOf(step)).toEqual([2, 3].map((position) => [position, position / 64]))
    expect(tasksOf(await request(run, 0, 4))).toEqual([0, 1, 2, 3].map((position) => [position, position / 64]))
    expect((await requireRun('same')).counters.items).toBe(4)
  })

  it('is passed by when the queue comes to it, however many there are', async () => {
    const run = await createRun('many')
    const { run: hash, issuedItems } = keys.forRun(run.name, run.epoch)
    const chunk = Buffer.alloc(256 * 15, 1)
    await redis.hset(issuedItems, new Map(Array.from({ length: 999 }, (_, k) => [k + 1, chunk])))
    await redis.hset(hash, 'requested_end', 256_000, 'position', 256)
    for (let k = 0; k < 15; k++) expect(await claim(run, OPEN)).toEqual([]) // each goes on from where the last one stopped
    expect(await claim(run, OPEN)).toEqual([256_000, 256_001, 256_002, 256_003])
  })

  it('draws another task where one has no item, and after the last has none for ever', async () => {
    const run = await createRun('drawn')
    await request(run, 5, 2)
    const claimTried = async () =>
      (await positions.claim(run, { ...NUMBER, positions: [5] }, 4)).map(({ triedTasks }) => triedTasks)
    expect(await claimTried()).toEqual([[]])
    const before = { ...run, revision: run.revision - 1 } // other settings, whose last task had no item
    expect(await positions.release(before, NUMBER, failed(5), 'held_out', true)).toBe(false)
    expect(await claimTried()).toEqual([[]])
    expect(await positions.release(run, NUMBER, failed(5), 'held_out', false)).toBe(false)
    expect(await claimTried()).toEqual([['gcd']])
    expect(await positions.release(run, NUMBER, { ...failed(5), task: 'lcm' }, 'held_out', false)).toBe(false)
    expect(await claimTried()).toEqual([['gcd', 'lcm']])
    expect(await positions.release(run, NUMBER, failed(5), 'held_out', true)).toBe(true)
    for (let k = 0; k < 2; k++) expect(await request(run, 5, 2)).toEqual({ kind: 'no_item', positions: [5] })
    expect(await request(run, 6)).toEqual({ kind: 'unmade', positions: [6] })
    expect((await requireRun('drawn')).counters.skipped_positions).toBe(1)
  })

  it('is refused far beyond all that are in use, and where seeds come again', async () => {
    const run = await createRun('far')
    const end = 2 ** 20
    expect(await request(run, end)).toEqual({ kind: 'too_far', end })
    expect(numbersOf(await request(run, end - 1))).toEqual([end - 1])
    expect(numbersOf(await request(run, 2 * end - 1))).toEqual([2 * end - 1])
    expect(await request(run, 3 * end - 1, 2)).toEqual({ kind: 'too_far', end: 3 * end })
    await redis.hset(keys.forRun(run.name, run.epoch).run, 'position', 2 ** 27 - 2)
    expect(await request(run, 2 ** 27 - 1, 2)).toEqual({ kind: 'too_far', end: 2 ** 27 })
  })

  it('takes less than 17 bytes of Redis', async () => {
    const run = await createRun('small')
    await request(run, 0, 1024)
    const scope = { ...NUMBER, positions: Array.from({ length: 1024 }, (_, k) => k) }
    const store = (position: number) => positions.store(run, scope, made(position, position / 7000))
    await Promise.all((await claim(run, scope, 1024)).map(store))
    expect((await request(run, 0, 1024)).kind).toBe('issued')
    const { issuedItems, requestedPositions } = keys.forRun(run.name, run.epoch)
    expect(await redis.hlen(issuedItems)).toBe(4)
    expect(Number(await redis.memory('USAGE', issuedItems, 'SAMPLES', 0)) / 1024).toBeLessThan(17)
    expect(await redis.exists(requestedPositions)).toBe(0)
  })

  it('begins anew with the sequence', async () => {
    const before = await createRun('anew')
    await request(before, 300, 2)
    await claim(before, { ...NUMBER, positions: [300, 301] })
    for (const position of [300, 301]) await positions.store(before, NUMBER, made(position))
    await request(before, 300, 2)
    await assign(before, 3)
    const stored = await requireRun('anew')
    await runs.updateSettings('anew', stored, { seed: 1 }, { restart: true, remake: false })
    const run = await requireRun('anew')
    expect(await request(run, 300)).toEqual({ kind: 'unmade', positions: [300] })
    expect(numbersOf(await assign(run, 1))).toEqual([0])
    const { issuedItems, issuedTasks } = keys.forRun(run.name, run.epoch)
    expect(await redis.exists(issuedItems, issuedTasks)).toBe(0)
  })
})

it('a run that began a new epoch gives and takes nothing for the old one', async () => {
  const run = await createRun('over')
  await claim(run, OPEN)
  const old = { ...run, epoch: run.epoch + 1 }
  expect(await positions.take(old, 1, TAKE)).toBeUndefined()
  expect(await assign(old)).toEqual({ kind: 'run_changed' })
  expect(await request(old, 0)).toEqual({ kind: 'run_changed' })
  expect(await claim(old, OPEN)).toEqual([])
  expect(await positions.store(old, OPEN, made(0))).toBe('not_wanted')
  expect(await positions.release(old, OPEN, failed(0), 'item')).toBe(false)
})

describe('a question that no other position may ask', () => {
  const asking = (position: number, question: string) => ({ ...made(position), question })

  it('goes to the lowest position, whoever was first; the one that loses it is made again', async () => {
    const run = await createRun('lowest')
    await claim(run, OPEN)
    expect(await positions.store(run, OPEN, asking(2, 'a'))).toBe('stored')
    expect(await positions.store(run, OPEN, asking(3, 'a'))).toBe('asked_before')
    expect(await positions.store(run, OPEN, asking(1, 'a'))).toBe('stored')
    expect(await claim(run, OPEN)).toEqual([2])
    expect(await positions.store(run, OPEN, asking(2, 'a'))).toBe('asked_before')
    expect(await positions.store(run, OPEN, asking(2, 'b'))).toBe('stored')
  })

  it('stays with a position that was handed out, or belongs to a step', async () => {
    const run = await createRun('kept')
    await assign(run)
    await claim(run, STEP)
    await claim(run, OPEN)
    expect(await positions.store(run, OPEN, asking(1, 'a'))).toBe('stored')
    expect((await positions.take(run, 1, TAKE))?.items).toMatchObject([{ position: 1 }])
    expect(await positions.store(run, STEP, asking(0, 'a'))).toBe('asked_before')
    expect(await positions.store(run, STEP, asking(0, 'b'))).toBe('stored')
    expect(numbersOf(await assign(run))).toEqual([0])
    expect(await positions.store(run, OPEN, asking(2, 'b'))).toBe('asked_before')
  })

  it('goes to the lowest position of a step that is not issued', async () => {
    const run = await createRun('in-step')
    await assign(run, 3)
    await claim(run, STEP)
    expect(await positions.store(run, STEP, asking(2, 'a'))).toBe('stored')
    expect(await positions.store(run, STEP, asking(1, 'a'))).toBe('stored')
    expect(await positions.store(run, STEP, asking(0, 'b'))).toBe('stored')
    expect(await claim(run, STEP)).toEqual([2])
    expect(await positions.store(run, STEP, asking(2, 'b'))).toBe('asked_before')
  })

  it('is free again when its position is made anew with another one, and when the run begins anew', async () => {
    const before = await createRun('freed')
    await claim(before, OPEN)
    await positions.store(before, OPEN, asking(0, 'a'))
    await runs.updateSettings(before.name, before, { difficulty: 1 }, { restart: false, remake: true })
    const remade = await requireRun(before.name)
    await claim(remade, OPEN)
    expect(await positions.store(remade, OPEN, asking(0, 'b'))).toBe('stored')
    expect(await positions.store(remade, OPEN, asking(1, 'a'))).toBe('stored')
    await runs.updateSettings(before.name, remade, { seed: 1 }, { restart: true, remake: false })
    const restarted = await requireRun(before.name)
    await claim(restarted, OPEN)
    expect(await positions.store(restarted, OPEN, asking(3, 'a'))).toBe('stored')
  })

  it('may be asked again after 131,072 positions, and no more than that are remembered', async () => {
    const run = await createRun('window')
    const { questions, run: hash } = keys.forRun(run.name, run.epoch)
    await claim(run, OPEN)
    for (const position of [0, 1]) await positions.store(run, OPEN, asking(position, `${position}`))
    await positions.take(run, 2, TAKE)
    await deleteKeys(redis, keys.forRun(run.name, run.epoch).openPositions)
    await redis.hset(hash, 'position', 131_072)
    await claim(run, OPEN)
    expect(await positions.store(run, OPEN, asking(131_072, '1'))).toBe('asked_before')
    expect(await positions.store(run, OPEN, asking(131_072, '0'))).toBe('stored')
    expect(await positions.store(run, OPEN, asking(131_073, '1'))).toBe('stored')
    expect(await redis.zrange(questions, '0', '-1', 'WITHSCORES')).toEqual(['0', '131072', '1', '131073'])
    const many = Array.from({ length: 131_072 + 2000 }, (_, k) => [k, `q${k}`]).flat()
    for (let k = 0; k < many.length; k += 20_000) await redis.zadd(questions, ...many.slice(k, k + 20_000))
    expect(await positions.store(run, OPEN, asking(131_074, '2'))).toBe('stored')
    expect(await redis.zcard(questions)).toBe(131_072 + 2000)
  })

  it('stays with a position of the queue when one far ahead was asked for by its number', async () => {
    const run = await createRun('far-question')
    await claim(run, OPEN)
    expect(await positions.store(run, OPEN, asking(0, 'a'))).toBe('stored')
    const far = { ...NUMBER, positions: [900_000] }
    await request(run, 900_000)
    await claim(run, far)
    expect(await positions.store(run, far, asking(900_000, 'b'))).toBe('stored')
    expect(await positions.store(run, OPEN, asking(1, 'a'))).toBe('asked_before')
    expect(await positions.store(run, OPEN, asking(1, 'c'))).toBe('stored')
  })
})

it('a position whose every seed gives a held-out question is skipped at once', async () => {
  const run = await createRun('held-out')
  await claim(run, OPEN)
  expect(await positions.release(run, OPEN, { ...failed(0), reason: 'eval_item' }, 'held_out')).toBe(true)
  expect((await requireRun('held-out')).counters).toMatchObject({ skipped_positions: 1, skipped_eval_items: 1 })
})
