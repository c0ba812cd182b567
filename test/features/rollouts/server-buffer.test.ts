import { randomUUID } from 'node:crypto'
import { afterAll, expect, inject, it } from 'vitest'
import { ServerBuffer } from '../../../src/features/rollouts/server-buffer.ts'
import { createRunKeys } from '../../../src/features/runs/records.ts'
import { RunRepository } from '../../../src/features/runs/repository.ts'
import { connectForWorkers } from '../../../src/platform/redis/connect.ts'
import { createRedisKeys } from '../../../src/platform/redis/keys.ts'
import { deleteKeys } from '../../world.ts'

const prefix = `t${randomUUID().slice(0, 8)}`
const keys = createRedisKeys(prefix)
const redis = connectForWorkers({ url: inject('redisUrl'), prefix: '' })
const runs = new RunRepository(redis, keys)
afterAll(async () => {
  await deleteKeys(redis, prefix)
  redis.disconnect()
})

it('the bytes of all runs are summed, with what this process has added since, however many ask at once', async () => {
  for (const [name, bytes] of [
    ['one', 300],
    ['two', 70],
  ] as const) {
    await runs.updateSettings(name, undefined, {}, { restart: false, remake: false })
    const epoch = (await runs.get(name))?.epoch ?? 0
    await redis.hset(createRunKeys(keys).forRun(name, epoch).backlog, 'bytes', bytes)
  }
  const always = new ServerBuffer(redis, keys, 371, 0) // asks anew each time
  for (let round = 0; round < 20; round++) {
    always.addStoredBytes(1000)
    await Promise.all(Array.from({ length: 8 }, () => always.readUsedBytes()))
  }
  expect(await always.readUsedBytes()).toBe(370)
  expect(await always.isFull()).toBe(false)

  const seldom = new ServerBuffer(redis, keys, 371, 3_600_000)
  expect(await seldom.readUsedBytes()).toBe(370)
  seldom.addStoredBytes(1)
  expect(await seldom.isFull()).toBe(true)
})
