import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, expect, inject, it } from 'vitest'
import { connectForWorkers } from '../../../src/platform/redis/connect.ts'
import { createRedisKeys } from '../../../src/platform/redis/keys.ts'
import { formatChannel, Notifications } from '../../../src/platform/redis/notifications.ts'

const connect = () => connectForWorkers({ url: inject('redisUrl'), prefix: '' })
/** Another process. */
const redis = connect()
afterAll(() => redis.disconnect())

/** Waits end by themselves after so long: whoever waits less has been told. */
const RECHECK_MS = 60_000
const TOLD_MS = 40_000
const LATE = { timeoutMs: 60_000 }

const opened: Notifications[] = []
afterEach(() => {
  for (const notifications of opened.splice(0)) notifications.close()
})

/** Listens to something else first, until the subscription stands and has woken all who listen. */
async function open(recheckMs = RECHECK_MS) {
  const keys = createRedisKeys(`t${randomUUID().slice(0, 8)}`)
  const notifications = new Notifications(connect, keys, recheckMs)
  opened.push(notifications)
  await notifications.listen('other').wait(LATE)
  return { notifications, announce: (message: string) => redis.publish(formatChannel(keys), message) }
}

async function time(wait: Promise<unknown>): Promise<number> {
  const start = performance.now()
  await wait
  return performance.now() - start
}

it('what is announced after a listener was created ends its next wait, and only that', async () => {
  const { notifications, announce } = await open()
  const listener = notifications.listen('key')
  const other = notifications.listen('key2')
  await announce('key')
  expect(await time(listener.wait(LATE))).toBeLessThan(TOLD_MS)
  const brief = { timeoutMs: 1000 }
  expect(await time(Promise.all([listener.wait(brief), other.wait(brief)]))).toBeGreaterThan(900)
})

it('a wait without news ends by itself, so that the state is read again', async () => {
  const { notifications } = await open(200)
  expect(await time(notifications.listen('key').wait(LATE))).toBeLessThan(TOLD_MS)
})

it('a detail is heard by those who wait for it, for all of its topic, or for several details', async () => {
  const { notifications, announce } = await open()
  let ended = 0
  const wait = async (topic: string, details?: string[]) => {
    await notifications.listen(topic).wait({ ...LATE, ...(details && { details }) })
    ended++
  }
  const [one, any] = [wait('key/1'), wait('key')]
  const [other, both] = [wait('key/2'), wait('key', ['1', '2'])]
  await announce('key/1')
  await Promise.all([one, any])
  expect(ended).toBe(2)
  await announce('key/2')
  await Promise.all([other, both])
})

it('a lost connection wakes everyone once it is back, because announcements may be lost', async () => {
  const connections: ReturnType<typeof connect>[] = []
  const notifications = new Notifications(
    () => {
      connections.push(connect())
      return connections[0] as ReturnType<typeof connect> // just added
    },
    createRedisKeys('t'),
    RECHECK_MS,
  )
  opened.push(notifications)
  const listener = notifications.listen('key')
  await listener.wait(LATE) // the subscription stands
  const waiting = time(listener.wait(LATE))
  connections[0]?.disconnect(true)
  expect(await waiting).toBeLessThan(TOLD_MS)
})

it('a poll reads again when it is told, and ends with the time, the signal or the process', async () => {
  const { notifications, announce } = await open()
  let reads = 0
  const found = notifications.poll('key', async () => (++reads === 2 ? reads : undefined), LATE)
  await announce('key')
  expect(await found).toBe(2)
  const read = async () => undefined
  expect(await notifications.poll('key', read, { timeoutMs: 5 })).toBeUndefined()
  const leaving = new AbortController()
  const left = notifications.poll('key', read, { ...LATE, signal: leaving.signal })
  leaving.abort()
  expect(await left).toBeUndefined()
  const closing = notifications.poll('key', read, LATE)
  notifications.close()
  expect(await closing).toBeUndefined()
})

it('who closes twice does not take the news from who listens since', async () => {
  const { notifications, announce } = await open()
  const first = notifications.listen('key')
  first.close()
  const second = notifications.listen('key')
  first.close()
  await announce('key')
  expect(await time(second.wait(LATE))).toBeLessThan(TOLD_MS)
})
