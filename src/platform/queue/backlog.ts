/** How much work waits on each queue, and for how long. */
import { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { JOBS, type JobName } from './job-definitions.ts'

const JOB_STATES = ['waiting', 'active', 'delayed', 'failed'] as const
const UNFINISHED_STATES = ['waiting', 'active', 'delayed'] as const

export interface QueueBacklog {
  queue: JobName
  jobs: Record<(typeof JOB_STATES)[number], number>
  /** When the oldest job that is not done was added, ms; undefined if there is none. */
  oldestAt: number | undefined
}

export class QueueBacklogReader {
  readonly #queues: Map<JobName, Queue>

  /** `connection` must fail at once while Redis is away. A version check that failed would be remembered for ever. */
  constructor(connection: Redis, prefix: string) {
    const names = Object.keys(JOBS) as JobName[] // keys of JOBS
    this.#queues = new Map(
      names.map((name) => {
        const queue = new Queue(name, { connection, prefix, skipWaitingForReady: true, skipVersionCheck: true })
        queue.on('error', () => {}) // met by whoever asks
        return [name, queue]
      }),
    )
  }

  readAll(): Promise<QueueBacklog[]> {
    return Promise.all(
      [...this.#queues].map(async ([name, queue]) => {
        const [counts, ...oldest] = await Promise.all([
          queue.getJobCounts(...JOB_STATES),
          ...UNFINISHED_STATES.map((state) => queue.getJobs([state], 0, 0, true)),
        ])
        const times = oldest.flat().flatMap((job) => (job ? [job.timestamp] : []))
        return {
          queue: name,
          jobs: Object.fromEntries(JOB_STATES.map((state) => [state, counts[state] ?? 0])) as QueueBacklog['jobs'], // by name
          oldestAt: times.length > 0 ? Math.min(...times) : undefined,
        }
      }),
    )
  }

  async close(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()))
  }
}
