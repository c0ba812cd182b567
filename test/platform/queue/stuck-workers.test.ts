/** Workers that stop taking jobs are replaced. A paused BullMQ worker stands for one whose connection is stuck. */
import { randomUUID } from 'node:crypto'
import { Queue, Worker } from 'bullmq'
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest'
import { type JobActivity, startWatchedWorkers } from '../../../src/platform/queue/stuck-workers.ts'
import { connectForWorkers } from '../../../src/platform/redis/connect.ts'
import { deleteKeys } from '../../world.ts'

/** On a busy machine, a new worker takes some time for its first job. */
const CHECK_INTERVAL_MS = 300
const prefix = `{t${randomUUID().slice(0, 8)}}` // one slot of a cluster, as the queues of the server have
const redis = connectForWorkers({ url: inject('redisUrl'), prefix })
const queue = new Queue('work', { connection: redis, prefix })
const done: string[] = []
const replaced = vi.fn()
let watched: { close(): Promise<void> }
let isStuck = true
let started = 0
let release = () => {}

function start(activity: JobActivity) {
  started++
  const handle = async ({ name }: { name: string }) => {
    if (name === 'long') await new Promise<void>((resolve) => (release = resolve))
    done.push(name)
  }
  const worker = new Worker('work', (job) => activity.track('work', () => handle(job)), { connection: redis, prefix })
  if (isStuck) void worker.pause(true)
  return { close: () => worker.close(), abandon: () => void worker.close(true) }
}

beforeAll(() => {
  watched = startWatchedWorkers({
    start,
    queues: ['work'],
    redis,
    prefix,
    onReplaced: replaced,
    checkIntervalMs: CHECK_INTERVAL_MS,
  })
})
afterAll(async () => {
  await watched.close()
  await queue.close()
  await deleteKeys(redis, prefix)
  redis.disconnect()
})

it('a worker that takes no jobs is replaced, and the next one takes them', async () => {
  isStuck = false // the next one
  await queue.add('first', {})
  await expect.poll(() => done).toEqual(['first'])
  expect(replaced).toHaveBeenCalledWith('work')
  expect(started).toBeGreaterThanOrEqual(2) // on a busy machine, the next one may be too late as well
})

it('a worker that is busy is not', async () => {
  await queue.add('long', {})
  await expect.poll(() => queue.getActiveCount()).toBe(1)
  await queue.add('next', {})
  const before = started
  await new Promise((resolve) => setTimeout(resolve, 5 * CHECK_INTERVAL_MS))
  expect(started).toBe(before)
  release()
  await expect.poll(() => done).toEqual(['first', 'long', 'next'])
})

it('one that must wait for a job of another worker is not, until that job ends', async () => {
  const schedules = new Queue('one-at-a-time', { connection: redis, prefix })
  const other = new Worker('one-at-a-time', null, { connection: redis, prefix, autorun: false })
  await schedules.setGlobalConcurrency(1)
  await schedules.add('slow', {})
  const slow = await other.getNextJob('token')
  await schedules.add('next', {})
  const startIdle = vi.fn(() => ({ close: async () => {}, abandon: () => {} }))
  const watch = startWatchedWorkers({
    start: startIdle,
    queues: ['one-at-a-time'],
    redis,
    prefix,
    onReplaced: vi.fn(),
    checkIntervalMs: CHECK_INTERVAL_MS,
  })
  await new Promise((resolve) => setTimeout(resolve, 5 * CHECK_INTERVAL_MS))
  expect(startIdle).toHaveBeenCalledTimes(1)
  await slow?.moveToCompleted('', 'token', false)
  await expect.poll(() => startIdle.mock.calls.length).toBeGreaterThan(1)
  await Promise.all([watch.close(), other.close(), schedules.close()])
})
