import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, inject, it } from 'vitest'
import { z } from 'zod'
import { connectForWorkers } from '../../../src/platform/redis/connect.ts'
import { IDEMPOTENCY_LIMITS, Idempotency, type IdempotencyLimits } from '../../../src/platform/redis/idempotency.ts'
import { createRedisKeys } from '../../../src/platform/redis/keys.ts'
import { Notifications } from '../../../src/platform/redis/notifications.ts'
import { keysOf, waitForNotification } from '../../world.ts'

const connect = () => connectForWorkers({ url: inject('redisUrl'), prefix: '' })
const redis = connect()
const opened: Notifications[] = []
afterAll(() => {
  redis.disconnect()
  for (const notifications of opened) notifications.close()
})

/** What the operation of a key came to; each operation is done `times` times. */
function open(limits: Partial<IdempotencyLimits> = {}) {
  const keys = createRedisKeys(`t${randomUUID().slice(0, 8)}`)
  const notifications = new Notifications(connect, keys)
  opened.push(notifications)
  const calls = new Idempotency(redis, keys, notifications, { ...IDEMPOTENCY_LIMITS, ...limits })
  const done: string[] = []
  const call = (key: string, { callerId = 'a', body = {} as unknown, size = 0, fails = false } = {}) =>
    calls.runOnce(
      { callerId, scope: 's', key, body },
      {
        decision: z.string(),
        perform: async (token) => {
          done.push(`${key} ${token}`)
          if (fails) throw new Error('fails')
          const decision = `${key} ${randomUUID()}`
          return { decision: decision + randomUUID().repeat(size), answer: decision }
        },
        replay: (decision) => Promise.resolve(decision.slice(0, key.length + 37)),
      },
    )
  /** Does the work, and resolves once it has announced the end of a call. */
  const waitForEnd = (work: () => Promise<void>) => waitForNotification(keys, keys.slot('idempotency'), work)
  return { call, done, keys, waitForEnd }
}

it('a key stands for one operation, one body and one caller', async () => {
  const { call, done } = open()
  const first = await call('k')
  expect(await call('k')).toBe(first)
  await expect(call('k', { body: { other: 1 } })).rejects.toMatchObject({ code: 'invalid_request' })
  expect(await call('k', { callerId: 'b' })).not.toBe(first)
  expect(done).toHaveLength(2)
})

it('calls at the same time share one operation', async () => {
  const { call, done, waitForEnd } = open()
  await waitForEnd(async () => {
    expect(new Set(await Promise.all(Array.from({ length: 20 }, () => call('k')))).size).toBe(1)
  })
  expect(done).toHaveLength(1)
})

it('a failed operation is tried again under the same token', async () => {
  const { call, done, waitForEnd } = open()
  await waitForEnd(() => expect(call('k', { fails: true })).rejects.toThrow('fails'))
  await call('k')
  expect(done).toHaveLength(2)
  expect(new Set(done).size).toBe(1)
})

it('the oldest keys of a caller make room for new ones, and others keep theirs', async () => {
  const { call, done, keys } = open({ bytesPerCaller: 10_000, protectedMs: 0 })
  const other = await call('other', { callerId: 'b' })
  const answers: string[] = []
  for (let k = 0; k < 40; k++) {
    answers.push(await call(`k${k}`, { size: k % 7 }))
    await sleep(1) // the next one is younger
  }
  expect(await call('k39')).toBe(answers[39])
  expect(await call('k38')).toBe(answers[38])
  expect(await call('k0')).not.toBe(answers[0])
  expect(await call('other', { callerId: 'b' })).toBe(other)
  expect(done).toHaveLength(42)
  const kept = await keysOf(redis, `${keys.slot('idempotency')}:record:*`)
  expect(kept.length).toBeLessThan(18)
  expect(await redis.zcard(`${keys.slot('idempotency')}:of:a`)).toBe(kept.length - 1)
  const sum = await redis.zscore(`${keys.slot('idempotency')}:bytes-by-caller`, 'a')
  const members = await redis.zrange(`${keys.slot('idempotency')}:of:a`, '0', '-1')
  expect(Number(sum)).toBe(members.reduce((sum, member) => sum + Number.parseInt(member, 10), 0))
})

it('a young key is never dropped: above the limit new ones are refused, and those that are there still answer', async () => {
  const { call } = open({ bytesPerCaller: 10_000 })
  const answers: string[] = []
  const refused = async () => {
    for (;;) answers.push(await call(`k${answers.length}`))
  }
  await expect(refused()).rejects.toMatchObject({ code: 'rate_limited', retryAfter: 60 })
  expect(answers.length).toBeGreaterThan(10)
  for (const [k, answer] of answers.entries()) expect(await call(`k${k}`)).toBe(answer)
  await call('k', { callerId: 'b' })
})

it('where all callers together have too much, the one with most makes room', async () => {
  const { call } = open({ bytes: 20_000, protectedMs: 0 })
  const small = await call('small', { callerId: 'small' })
  for (let k = 0; k < 60; k++) await call(`k${k}`, { callerId: 'large' })
  expect(await call('small', { callerId: 'small' })).toBe(small)
})

it('what has expired counts no more', async () => {
  const { call, keys } = open({ bytesPerCaller: 3000 })
  const slot = keys.slot('idempotency')
  for (let k = 0; k < 3; k++) await call(`k${k}`)
  await expect(call('k3')).rejects.toMatchObject({ code: 'rate_limited' })
  for (const key of await keysOf(redis, `${slot}:*`)) if (!key.endsWith(':bytes-by-caller')) await redis.unlink(key) // as after an hour
  await call('k3')
  expect(Number(await redis.zscore(`${slot}:bytes-by-caller`, 'a'))).toBeLessThan(1000)
})

it('a caller whose records have expired is forgotten where there is no room, with what they took', async () => {
  const { call, keys } = open({ bytes: 6000 })
  const slot = keys.slot('idempotency')
  for (const callerId of ['a', 'b', 'c']) for (const key of ['k0', 'k1']) await call(key, { callerId })
  for (const key of await keysOf(redis, `${slot}:*`)) if (!key.endsWith(':bytes-by-caller')) await redis.unlink(key) // as after an hour
  for (const key of ['k0', 'k1']) await call(key, { callerId: 'd' })
  const callers = await redis.zrange(`${slot}:bytes-by-caller`, '0', '-1')
  expect(callers.toSorted()).toEqual(['', 'a', 'b', 'd'])
  const [all = 0, ...each] = (await redis.zmscore(`${slot}:bytes-by-caller`, ...callers.toSorted())).map(Number)
  expect(each.reduce((sum, bytes) => sum + bytes, 0)).toBe(all)
})

it('a record takes no more memory than is counted for it', async () => {
  const { call, keys } = open()
  const slot = keys.slot('idempotency')
  const memory = async () => {
    const names = await keysOf(redis, `${slot}:*`)
    const sizes = await Promise.all(names.map((name) => redis.call('MEMORY', 'USAGE', name, 'SAMPLES', '0')))
    return sizes.reduce((sum: number, bytes) => sum + Number(bytes), 0)
  }
  for (let k = 0; k < 300; k++) await call(`k${k}`, { size: k % 20 })
  const counted = Number(await redis.zscore(`${slot}:bytes-by-caller`, 'a'))
  expect(await memory()).toBeLessThan(counted)
})
