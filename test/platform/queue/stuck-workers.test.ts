/** Workers that stop taking jobs are replaced. A paused BullMQ worker stands for one whose connection is stuck. */
import { randomUUID } from 'node:crypto'
import { Queue, Worker } from 'bullmq'
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest'
import { type JobActivity, startWatchedWorkers } from '../../../src/platform/queue/stuck-workers.ts'
import { connectForWorkers } from '../../../src/platform/redis/connect.ts'
import { deleteKeys } from '../../world.ts'

const CHECK_INTERVAL_MS = 100
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
    queues: ['work', 'one-at-a-time'],
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
  expect(started).toBe(2)
})

it('a worker that is busy is not', async () => {
  await queue.add('long', {})
  await expect.poll(() => queue.getActiveCount()).toBe(1)
  await queue.add('next', {})
  await new Promise((resolve) => setTimeout(resolve, 5 * CHECK_INTERVAL_MS))
  expect(started).toBe(2)
  release()
  await expect.poll(() => done).toEqual(['first', 'long', 'next'])
})

it('one that must wait for a job of another worker is not, either', async () => {
  const schedules = new Queue('one-at-a-time', { connection: redis, prefix })
  const other = new Worker('one-at-a-time', null, { connection: redis, prefix, autorun: false })
  await schedules.setGlobalConcurrency(1)
  await schedules.add('slow', {})
  expect(await other.getNextJob('token')).toMatchObject({ name: 'slow' })
  await schedules.add('next', {}) // not before, when a check could see it wait for nothing
  await new Promise((resolve) => setTimeout(resolve, 5 * CHECK_INTERVAL_MS))
  expect(started).toBe(2)
  await Promise.all([other.close(), schedules.close()])
})
