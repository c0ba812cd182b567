/** Reads the state of the queues: how much work waits, for how long, and which jobs failed after all their attempts. */

import type { Job } from 'bullmq'
import type { Redis } from 'ioredis'
import type { JobDefinition } from './job-definition.ts'
import { Queues } from './queues.ts'

const JOB_STATES = ['waiting', 'active', 'delayed', 'failed'] as const
const UNFINISHED_STATES = ['waiting', 'active', 'delayed'] as const

export interface QueueBacklog {
  queue: string
  jobs: Record<(typeof JOB_STATES)[number], number>
  /** When the oldest unfinished job was added, ms; undefined if there is none. */
  oldestAt: number | undefined
}

export class QueueState {
  readonly #queues: Queues
  readonly #definitions: readonly JobDefinition[]

  constructor(connection: Redis, prefix: string, definitions: readonly JobDefinition[]) {
    this.#queues = new Queues(connection, prefix)
    this.#definitions = definitions
  }

  readBacklog(): Promise<QueueBacklog[]> {
    return Promise.all(
      this.#definitions.map(async ({ name }) => {
        const queue = this.#queues.getOrCreate(name)
        const [counts, ...oldestJobs] = await Promise.all([
          queue.getJobCounts(...JOB_STATES),
          ...UNFINISHED_STATES.map((state) => queue.getJobs([state], 0, 0, true)),
        ])
        const times = oldestJobs.flat().flatMap((job) => (job ? [job.timestamp] : []))
        return {
          queue: name,
          jobs: Object.fromEntries(JOB_STATES.map((state) => [state, counts[state] ?? 0])) as QueueBacklog['jobs'], // by name
          oldestAt: times.length > 0 ? Math.min(...times) : undefined,
        }
      }),
    )
  }

  /** Failed jobs, most recent first. They are kept until they are retried. */
  async listFailed(limit: number) {
    const queues = await Promise.all(
      this.#definitions.map(async ({ name }) => {
        const queue = this.#queues.getOrCreate(name)
        const [total, jobs] = await Promise.all([queue.getFailedCount(), queue.getFailed(0, limit - 1)])
        return { total, jobs: jobs.flatMap((job) => (job ? [toFailedJob(name, job)] : [])) } // it may have been removed
      }),
    )
    return {
      total: queues.reduce((sum, { total }) => sum + total, 0),
      jobs: queues
        .flatMap(({ jobs }) => jobs)
        .toSorted((a, b) => (a.failed_at < b.failed_at ? 1 : -1))
        .slice(0, limit),
    }
  }

  /** Undefined if there is no such job, or it is no longer failed. */
  async getFailed(id: string): Promise<{ definition: JobDefinition; job: Job } | undefined> {
    const separator = id.indexOf('~')
    const definition = this.#definitions.find(({ name }) => name === id.slice(0, separator))
    const job = definition && (await this.#queues.getOrCreate(definition.name).getJob(id.slice(separator + 1)))
    return definition && job && (await job.isFailed()) ? { definition, job } : undefined
  }

  close(): Promise<void> {
    return this.#queues.close()
  }
}

/** Its ID is the queue's name, `~` and BullMQ's ID. */
function toFailedJob(queue: string, job: Job<unknown>) {
  return {
    id: `${queue}~${job.id}`,
    queue,
    data: job.data,
    reason: job.failedReason ?? '',
    attempts: job.attemptsMade,
    failed_at: new Date(job.finishedOn ?? job.timestamp).toISOString(),
  }
}
