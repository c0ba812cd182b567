/**
 * Promotes jobs whose delay is longer than any that we set: the clock of the machine that delayed them was ahead, or the local
 * clock was set back.
 *
 * Symptom: BullMQ uses the clock of each worker, and lets such jobs wait until that clock has caught up.
 * Gain: correctness, no speed: jobs run within 10 s instead of after the hours by which a clock was wrong.
 * Measure: npx vitest run test/platform/queue/clock-skew.test.ts test/failures/clock-jumps.test.ts
 * Delete when: BullMQ dates delayed jobs by the clock of Redis.
 */
import type { Redis } from 'ioredis'
import type { JobDefinition } from './job-definition.ts'
import { Queues } from './queues.ts'

const CHECK_INTERVAL_MS = 10_000
/** Longer than any pause between attempts and any `Requeue`. */
const MAX_DELAY_MS = 600_000
const MAX_JOBS_PER_CHECK = 1000
/** The score of a delayed job is the time at which it is due, and twelve bits that keep the order of equal times. */
const SCORE_PER_MS = 0x1000

interface ClockSkewOptions {
  connection: Redis
  prefix: string
  onError: (error: unknown, queue: string) => void
}

/** Makes a worker check for such jobs at intervals. */
export function startClockSkewCorrection(
  definitions: readonly JobDefinition[],
  { connection, prefix, onError }: ClockSkewOptions,
): { close(): Promise<void> } {
  const queues = new Queues(connection, prefix)
  let isChecking = false
  const check = async () => {
    if (isChecking) return // it waits for Redis
    isChecking = true
    for (const { name } of definitions)
      await promoteSkewedJobs(queues, connection, name).catch((error: unknown) => onError(error, name))
    isChecking = false
  }
  const timer = setInterval(() => void check(), CHECK_INTERVAL_MS)
  return {
    async close() {
      clearInterval(timer)
      await queues.close()
    },
  }
}

/** Makes them due now and returns their number. */
export async function promoteSkewedJobs(queues: Queues, redis: Redis, name: string): Promise<number> {
  const queue = queues.getOrCreate(name)
  const latest = (Date.now() + MAX_DELAY_MS) * SCORE_PER_MS
  const ids = await redis.zrangebyscore(queue.toKey('delayed'), latest, '+inf', 'LIMIT', 0, MAX_JOBS_PER_CHECK)
  for (const id of ids) await (await queue.getJob(id))?.promote().catch(() => {}) // it may have been promoted by another
  return ids.length
}
