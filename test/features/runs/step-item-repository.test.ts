import { randomUUID } from 'node:crypto'
import { afterAll, expect, inject, it } from 'vitest'
import { createRunKeys } from '../../../src/features/runs/keys.ts'
import { PositionRepository } from '../../../src/features/runs/position-repository.ts'
import { RunRepository, type StoredRun } from '../../../src/features/runs/repository.ts'
import { StepItemRepository } from '../../../src/features/runs/step-item-repository.ts'
import { scanKeys } from '../../../src/platform/redis/cluster.ts'
import { connectForWorkers } from '../../../src/platform/redis/connect.ts'
import { createRedisKeys } from '../../../src/platform/redis/keys.ts'

const prefix = `t${randomUUID().slice(0, 8)}`
const keys = createRedisKeys(prefix)
const redis = connectForWorkers({ url: inject('redisUrl'), prefix: '' })
const runs = new RunRepository(redis, keys)
const steps = new StepItemRepository(redis, keys)
afterAll(async () => {
  for await (const { node, keys: some } of scanKeys(redis, `*${prefix}*`)) await node.unlink(...some)
  redis.disconnect()
})

async function made(name: string): Promise<StoredRun> {
  await runs.updateSettings(name, undefined, {}, { restart: false, remake: false })
  const run = await runs.get(name)
  if (!run) throw new Error('it was made')
  return run
}

it('a trainer that begins again below all steps that are remembered is given the same items whenever it asks', async () => {
  const run = await made('again')
  const positions = async (step: number) => (await steps.assignItems(run, step, 2, 0))?.map(({ position }) => position)
  for (let step = 1000; step < 1300; step++) await positions(step)
  const first = await positions(0)
  expect(first).toEqual([600, 601])
  expect(await positions(0)).toEqual(first)
  expect(await positions(1299)).toEqual([598, 599])
  expect(await redis.zcard(createRunKeys(keys).forRun('again', run.epoch).steps)).toBeLessThanOrEqual(256)
})

it('where an item cannot be made the next of the sequence is taken for it, and what was prepared of that is not left behind', async () => {
  const run = await made('skipping')
  const positions = new PositionRepository(redis, keys)
  await steps.assignItems(run, 0, 1, 2)
  for (const { position } of await positions.claimPositions(run, 2, 2)) {
    const item = { task: 'gcd', label: null, body: '{}' }
    expect(await positions.storeItem(run, position, item, null)).toBe(true)
  }
  const skipped = { position: 0, task: 'gcd', seed: 1, difficulty: null, detail: '', time: '' }
  expect(await steps.releaseClaim(run, 0, skipped, true)).toBe(false)
  expect(await steps.releaseClaim(run, 0, skipped, true)).toBe(true)
  expect((await steps.assignItems(run, 0, 1, 2))?.map(({ position }) => position)).toEqual([1])
  const { openPositions: open, itemBodies: bodies } = createRunKeys(keys).forRun('skipping', run.epoch)
  expect(await redis.hkeys(bodies)).toEqual(await redis.zrange(open, '0', '-1'))
})
