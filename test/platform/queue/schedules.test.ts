import { randomUUID } from 'node:crypto'
import { Queue } from 'bullmq'
import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import { ensureSchedules, type ScheduledTask, startSchedules } from '../../../src/platform/queue/schedules.ts'
import { connectForWorkers } from '../../../src/platform/redis/connect.ts'
import { keysOf, until } from '../../world.ts'

const EVERY_MS = 100
const DAY_MS = 24 * 3600 * 1000

let prefix: string
let redis: ReturnType<typeof connectForWorkers>
let queue: Queue
let closers: (() => Promise<void>)[]

beforeEach(() => {
  prefix = `{t${randomUUID().slice(0, 8)}}`
  redis = connectForWorkers({ url: inject('redisUrl'), prefix })
  queue = new Queue('maintenance', { connection: redis, prefix })
  closers = []
})
afterEach(async () => {
  await Promise.all(closers.map((close) => close()))
  await queue.close()
  redis.disconnect()
})

/** A worker's share of the schedules, on a connection of its own. */
function startWorker(tasks: ScheduledTask[], errors: unknown[] = []): () => Promise<void> {
  const connection = connectForWorkers({ url: inject('redisUrl'), prefix })
  const schedules = startSchedules(tasks, { connection, prefix, onError: (error) => errors.push(error) })
  const close = async () => {
    await schedules.close()
    connection.disconnect()
  }
  closers.push(close)
  return close
}

const msUntilNext = async (name: string) => ((await queue.getJobScheduler(name))?.next ?? 0) - Date.now()

it('several workers run a task once per interval together, and never twice at once', async () => {
  const startedAt = performance.now()
  let [runs, inFlight, overlaps] = [0, 0, 0]
  const task = {
    name: 'slow',
    everyMs: EVERY_MS,
    async run() {
      runs++
      if (++inFlight > 1) overlaps++
      await new Promise((resolve) => setTimeout(resolve, 1.5 * EVERY_MS))
      inFlight--
    },
  }
  for (let k = 0; k < 3; k++) startWorker([task])
  await until(
    async () => runs,
    (count) => count >= 8,
  )
  expect(overlaps).toBe(0)
  expect(runs).toBeLessThanOrEqual((performance.now() - startedAt) / EVERY_MS + 1)
})

it('when a worker stops, the others go on', async () => {
  const runs = { first: 0, second: 0 }
  const task = (name: keyof typeof runs) => ({ name: 'task', everyMs: EVERY_MS, run: async () => void runs[name]++ })
  const stopFirst = startWorker([task('first')])
  startWorker([task('second')])
  await until(
    async () => runs.first + runs.second,
    (count) => count > 2,
  )
  await stopFirst()
  const before = runs.second
  await until(
    async () => runs.second,
    (count) => count > before + 2,
  )
})

it('a task that fails is reported and runs again', async () => {
  const errors: unknown[] = []
  startWorker([{ name: 'broken', everyMs: EVERY_MS, run: () => Promise.reject(new Error('no luck')) }], errors)
  await until(
    async () => errors.length,
    (count) => count > 2,
  )
  expect(errors[0]).toEqual(new Error('no luck'))
})

it('a Redis that was flushed gets its schedules back', async () => {
  let runs = 0
  startWorker([{ name: 'task', everyMs: EVERY_MS, run: async () => void runs++ }])
  await until(
    async () => runs,
    (count) => count > 1,
  )
  await redis.del(...(await keysOf(redis, `${prefix}*`)))
  const before = runs
  await until(
    async () => runs,
    (count) => count > before + 3,
  )
})

it('a schedule that is on time is left alone', async () => {
  const schedules = [{ name: 'task', everyMs: DAY_MS }]
  await ensureSchedules(queue, schedules)
  const [job] = await queue.getJobs(['waiting', 'delayed'])
  await ensureSchedules(queue, schedules)
  const jobs = await queue.getJobs(['waiting', 'delayed'])
  expect(jobs.map(({ id, timestamp }) => [id, timestamp])).toEqual([[job?.id, job?.timestamp]])
})

it('a schedule whose next run is too far away, because a clock was wrong, is due now', async () => {
  await queue.upsertJobScheduler('task', { every: EVERY_MS, startDate: Date.now() + DAY_MS })
  expect(await msUntilNext('task')).toBeGreaterThan(DAY_MS / 2)
  await ensureSchedules(queue, [{ name: 'task', everyMs: EVERY_MS }])
  expect(await msUntilNext('task')).toBeLessThanOrEqual(EVERY_MS)
})

it('a schedule with another interval takes the new one', async () => {
  await ensureSchedules(queue, [{ name: 'task', everyMs: DAY_MS }])
  await ensureSchedules(queue, [{ name: 'task', everyMs: EVERY_MS }])
  expect(await queue.getJobScheduler('task')).toMatchObject({ every: EVERY_MS })
  expect(await queue.getJobSchedulersCount()).toBe(1)
})

it('a run that was lost is made up for', async () => {
  const schedules = [{ name: 'task', everyMs: EVERY_MS }]
  await ensureSchedules(queue, schedules)
  await redis.del(`${prefix}:maintenance:wait`, `${prefix}:maintenance:delayed`)
  await redis.zadd(`${prefix}:maintenance:repeat`, Date.now() - 60_000, 'task')
  await ensureSchedules(queue, schedules)
  expect(await queue.getJobCountByTypes('waiting', 'delayed')).toBe(1)
})
