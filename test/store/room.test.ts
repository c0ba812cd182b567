import { randomUUID } from 'node:crypto'
import { afterAll, expect, inject, it } from 'vitest'
import { keysUnder } from '../../src/store/keys.ts'
import { connectForWork } from '../../src/store/redis.ts'
import { Room } from '../../src/store/room.ts'
import { Runs } from '../../src/store/runs.ts'

const keys = keysUnder(`t${randomUUID().slice(0, 8)}`)
const redis = connectForWork({ url: inject('redisUrl'), prefix: '' })
const runs = new Runs(redis, keys)
afterAll(async () => {
  for (const name of ['one', 'two']) await runs.remove(name)
  redis.disconnect()
})

it('the bytes of all runs are summed, with what this process has added since, however many ask at once', async () => {
  for (const [name, bytes] of [
    ['one', 300],
    ['two', 70],
  ] as const) {
    await runs.change(name, undefined, {}, { restart: false, remake: false })
    const epoch = (await runs.find(name))?.epoch ?? 0
    await redis.hset(keys.ofRun(name, epoch).stock, 'bytes', bytes)
  }
  const always = new Room(redis, keys, 371, 0) // asks anew each time
  for (let round = 0; round < 20; round++) {
    always.add(1000)
    await Promise.all(Array.from({ length: 8 }, () => always.bytes()))
  }
  expect(await always.bytes()).toBe(370)
  expect(await always.isFull()).toBe(false)

  const seldom = new Room(redis, keys, 371, 3_600_000)
  expect(await seldom.bytes()).toBe(370)
  seldom.add(1)
  expect(await seldom.isFull()).toBe(true)
})
