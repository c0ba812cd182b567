/**
 * Recurring work of the whole fleet: BullMQ job schedulers in one queue that runs one job at a time, whichever worker takes it.
 * Every worker checks at intervals that the schedules exist, because a flushed Redis has lost them, and because a clock that
 * jumps back would leave the next run in the far future.
 */
import { type Job, type Queue, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import type { Closable } from '../closers.ts'
import type { JobConsumer } from './job-definition.ts'
import { Queues } from './queues.ts'
import type { JobActivity, JobWorkers } from './stuck-workers.ts'

export const SCHEDULES_QUEUE = 'maintenance'
const CHECK_INTERVAL_MS = 10_000
/** A run whose worker was killed delays the others for this long. Runs take milliseconds. */
const LOCK_MS = 5_000
const MAX_STALLED_COUNT = 10
/** Tolerance for differences between the clocks of machines. */
const MAX_CLOCK_SKEW_MS = 5_000
/** The queue is busy, or the next run was lost. */
const MAX_DELAY_MS = 5_000

export interface Schedule {
  readonly name: string
  readonly everyMs: number
}

export interface ScheduledTask extends Schedule {
  /** Must tolerate two concurrent runs, which happen if a worker stalls for longer than its lock. */
  run(): Promise<unknown>
}

interface SchedulesOptions {
  /** Waits while Redis is unavailable. */
  connection: Redis
  prefix: string
  onError: (error: unknown, queue: string) => void
  /** Notes that a job was taken. */
  activity?: JobActivity
}

export function startSchedules(
  tasks: readonly ScheduledTask[],
  { connection, prefix, onError, activity }: SchedulesOptions,
): JobWorkers {
  const runTask = async ({ name }: Job) => {
    await tasks
      .find((task) => task.name === name) // a worker of another version may have added others
      ?.run()
      .catch((error: unknown) => onError(error, name))
  }
  const trackTask = (job: Job) => (activity ? activity.track(SCHEDULES_QUEUE, () => runTask(job)) : runTask(job))
  const worker = new Worker(SCHEDULES_QUEUE, trackTask, {
    connection,
    prefix,
    concurrency: 1,
    lockDuration: LOCK_MS,
    stalledInterval: LOCK_MS / 2,
    maxStalledCount: MAX_STALLED_COUNT,
  })
  worker.on('error', (error) => onError(error, SCHEDULES_QUEUE))
  const queues = new Queues(connection, prefix)
  const queue = queues.getOrCreate(SCHEDULES_QUEUE)
  let isChecking = false
  const check = async () => {
    if (isChecking) return // it waits for Redis
    isChecking = true
    await ensureSchedules(queue, tasks).catch((error: unknown) => onError(error, SCHEDULES_QUEUE))
    isChecking = false
  }
  void check()
  const timer = setInterval(() => void check(), CHECK_INTERVAL_MS)
  return {
    async close() {
      clearInterval(timer)
      await worker.close()
      await queues.close()
    },
    abandon() {
      clearInterval(timer)
      void worker.close(true).catch(() => {})
      void queues.close().catch(() => {})
    },
  }
}

/** Adds schedules that are missing, overdue or different; a second call changes nothing. */
export async function ensureSchedules(queue: Queue, schedules: readonly Schedule[]): Promise<void> {
  await queue.setGlobalConcurrency(1)
  for (const { name, everyMs } of schedules) {
    const stored = await queue.getJobScheduler(name)
    const now = Date.now()
    const dueInMs = (stored?.next ?? 0) - now
    if (stored && stored.every === everyMs && isOnTime(dueInMs, everyMs)) continue
    if (dueInMs > 0) await queue.removeJobScheduler(name) // an update would keep the time of the next run
    await queue.upsertJobScheduler(
      name,
      { every: everyMs },
      { name, opts: { removeOnComplete: true, removeOnFail: true } },
    )
  }
}

function isOnTime(dueInMs: number, everyMs: number): boolean {
  return dueInMs >= -MAX_DELAY_MS && dueInMs <= everyMs + MAX_CLOCK_SKEW_MS
}

/** The work of a feature in a worker: jobs to consume and recurring work. */
export interface BackgroundWork {
  consumers: JobConsumer[]
  /** Recurring work that any worker can do for the whole fleet. */
  scheduledTasks?: ScheduledTask[]
  /** Recurring work on resources of this process, such as its folder or connections. Closed before the consumers stop. */
  startLocalTimer?(onError: (error: unknown) => void): Closable
  /** Called after the last job has ended. */
  close?(): Promise<void> | void
}
