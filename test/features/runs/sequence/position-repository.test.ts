import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { createRunKeys } from '../../../../src/features/runs/keys.ts'
import { RunRepository, type StoredRun } from '../../../../src/features/runs/repository.ts'
import {
  PositionRepository,
  type PositionScope,
  type SkippedPosition,
} from '../../../../src/features/runs/sequence/position-repository.ts'
import { connectForWorkers } from '../../../../src/platform/redis/connect.ts'
import { createRedisKeys } from '../../../../src/platform/redis/keys.ts'
import { deleteKeys } from '../../../world.ts'

const prefix = `t${randomUUID().slice(0, 8)}`
const redisKeys = createRedisKeys(prefix)
const keys = createRunKeys(redisKeys)
const redis = connectForWorkers({ url: inject('redisUrl'), prefix: '' })
const runs = new RunRepository(redis, redisKeys)
const positions = new PositionRepository(redis, redisKeys)
afterAll(async () => {
  await deleteKeys(redis, prefix)
  redis.disconnect()
})

const OPEN: PositionScope = { kind: 'open', prefetchTarget: 4 }
const STEP: PositionScope = { kind: 'step', step: 0 }
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

const claim = async (run: StoredRun, scope: PositionScope, count = 4) =>
  (await positions.claim(run, scope, count)).map(({ position }) => position)
const assign = async (run: StoredRun, count = 1, step = 0) =>
  (await positions.assignStep(run, step, { count, prefetchTarget: 2 })) ?? []
const made = (position: number, difficulty: number | null = null) => ({
  position,
  task: 'gcd',
  difficulty,
  body: `{"made":${position}}`,
})
const failed = (position: number): SkippedPosition => ({
  position,
  task: 'gcd',
  seed: 1,
  difficulty: null,
  reason: 'failed',
  detail: '',
  time: '',
})

for (const scope of [OPEN, STEP]) {
  describe(`a position ${scope.kind === 'open' ? 'that is open' : 'of a step'}`, () => {
    const create = async (name: string) => {
      const run = await createRun(`${name}-${scope.kind}`)
      if (scope.kind === 'step') await assign(run, 4)
      return run
    }
    const moveClaimsBack = async (run: StoredRun) => {
      const runKeys = keys.forRun(run.name, run.epoch)
      const states = scope.kind === 'open' ? runKeys.positionStates : runKeys.stepItems(0)
      for (const [position, json] of Object.entries(await redis.hgetall(states)))
        await redis.hset(states, position, JSON.stringify({ ...JSON.parse(json), claimed_until: Date.now() - 1 }))
    }

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
      expect(await claim(run, scope)).toEqual([4]) // in a step it takes the place of the one that was skipped
    })
  })
}

describe('an open position', () => {
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
      preparedCount: 0,
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
    expect((await positions.take(run, 1, { ...TAKE, isFinal: false }))?.items).toEqual([])
    expect((await positions.take(run, 1, TAKE))?.items).toMatchObject([{ position: 1 }])
  })

  it('is made again when the curriculum leaves the rung of its item, and relabeled while it stays there', async () => {
    const run = await createRun('rungs')
    const { curriculum } = keys.forRun(run.name, run.epoch)
    const moveTo = (level: number) => redis.hset(curriculum, 'gcd', JSON.stringify({ level: `${level}`, scores: [] }))
    await claim(run, OPEN)
    const placement = { low: 0, high: 0.4, from: 0.25, to: 0.35 }
    await positions.store(run, OPEN, { ...made(0, 0.3), placement })
    await positions.store(run, OPEN, { ...made(1, 0.3), placement })
    await moveTo(0.25)
    expect((await positions.take(run, 1, TAKE))?.items).toMatchObject([{ position: 0, difficulty: 0.25 }])
    await moveTo(0.35)
    expect((await positions.take(run, 1, TAKE))?.items).toEqual([])
    expect(await positions.claim(run, OPEN, 1)).toEqual([{ position: 1, previousTask: 'gcd' }])
    expect(await positions.store(run, OPEN, { ...made(1, 0.3), placement })).toBe('not_wanted')
    expect(await claim(run, OPEN, 1)).toEqual([1])
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
    expect(await positions.claim(run, OPEN, 1)).toEqual([{ position: 0, previousTask: undefined }])
  })
})

describe('the positions of a step', () => {
  it('are the next open ones, with their items where these are made, and final', async () => {
    const run = await createRun('assigned')
    const { curriculum } = keys.forRun(run.name, run.epoch)
    await claim(run, OPEN)
    const placement = { low: 0, high: 1, from: 0.25, to: 0.35 }
    await positions.store(run, OPEN, { ...made(1, 0.3), placement })
    const step = await assign(run, 2)
    expect(step).toEqual([
      { kind: 'unmade', position: 0 },
      { kind: 'stored', position: 1, difficulty: 0.3, body: made(1).body },
    ])
    await redis.hset(curriculum, 'gcd', JSON.stringify({ level: '0.9', scores: [] }))
    expect(await assign(run, 9)).toEqual(step)
    await redis.unlink(keys.forRun(run.name, run.epoch).stepItemBodies(0))
    expect((await assign(run))[1]).toEqual({ kind: 'expired', position: 1, difficulty: 0.3, task: 'gcd' })
    expect((await positions.take(run, 1, TAKE))?.items).toEqual([])
  })

  it('are the same whenever a trainer asks that started over below all steps that are remembered', async () => {
    const run = await createRun('again')
    const ask = async (step: number) => (await assign(run, 2, step)).map(({ position }) => position)
    for (let step = 1000; step < 1300; step++) await ask(step)
    const first = await ask(0)
    expect(first).toEqual([600, 601])
    expect(await ask(0)).toEqual(first)
    expect(await ask(1299)).toEqual([598, 599])
    expect(await redis.zcard(keys.forRun('again', run.epoch).steps)).toBeLessThanOrEqual(256)
  })

  it('give way to the next open one, with its item if that is made', async () => {
    const run = await createRun('skipping')
    await assign(run)
    await claim(run, STEP)
    for (const position of await claim(run, OPEN))
      expect(await positions.store(run, OPEN, made(position))).toBe('stored')
    expect(await positions.release(run, STEP, failed(0), 'item')).toBe(false)
    expect(await positions.release(run, STEP, failed(0), 'item')).toBe(true)
    expect(await assign(run)).toEqual([{ kind: 'stored', position: 1, difficulty: null, body: made(1).body }])
    const { openPositions, itemBodies } = keys.forRun('skipping', run.epoch)
    expect(await redis.hkeys(itemBodies)).toEqual(await redis.zrange(openPositions, '0', '-1'))
  })
})

it('a run that began a new epoch gives and takes nothing for the old one', async () => {
  const run = await createRun('over')
  await claim(run, OPEN)
  const old = { ...run, epoch: run.epoch + 1 }
  expect(await positions.take(old, 1, TAKE)).toBeUndefined()
  expect(await positions.assignStep(old, 0, { count: 1, prefetchTarget: 0 })).toBeUndefined()
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
  })
})

it('a position whose every seed gives a held-out question is skipped at once', async () => {
  const run = await createRun('held-out')
  await claim(run, OPEN)
  expect(await positions.release(run, OPEN, { ...failed(0), reason: 'eval_item' }, 'held_out')).toBe(true)
  expect((await requireRun('held-out')).counters).toMatchObject({ skipped_positions: 1, skipped_eval_items: 1 })
})
