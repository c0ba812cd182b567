import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import { promoteSkewedJobs } from '../../../src/platform/queue/clock-skew.ts'
import { Queues } from '../../../src/platform/queue/queues.ts'
import { connectForWorkers } from '../../../src/platform/redis/connect.ts'

const QUEUE = 'work'
let redis: ReturnType<typeof connectForWorkers>
let queues: Queues

beforeEach(() => {
  const prefix = `{t${randomUUID().slice(0, 8)}}`
  redis = connectForWorkers({ url: inject('redisUrl'), prefix })
  queues = new Queues(redis, prefix)
})
afterEach(async () => {
  await queues.getOrCreate(QUEUE).obliterate()
  await queues.close()
  redis.disconnect()
})

it('a job that a clock an hour ahead has delayed is due at once, and one that waits for its next attempt is not', async () => {
  const queue = queues.getOrCreate(QUEUE)
  await queue.add('ahead', {}, { jobId: 'ahead', delay: 3600_000 })
  await queue.add('ordinary', {}, { jobId: 'ordinary', delay: 30_000 })
  expect(await promoteSkewedJobs(queues, redis, QUEUE)).toBe(1)
  expect((await queue.getWaiting()).map(({ id }) => id)).toEqual(['ahead'])
  expect((await queue.getDelayed()).map(({ id }) => id)).toEqual(['ordinary'])
  expect(await promoteSkewedJobs(queues, redis, QUEUE)).toBe(0)
})
