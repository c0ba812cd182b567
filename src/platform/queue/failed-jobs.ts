/** Jobs that failed for good, with their reason, until somebody has them tried again. */
import type { Job } from 'bullmq'
import type { Redis } from 'ioredis'
import { JOBS, type JobData, type JobName } from './job-definitions.ts'
import { Queues } from './queues.ts'

/** A failed job; its id is the queue's name, `~` and BullMQ's id. */
export interface FailedJob {
  id: string
  queue: JobName
  data: unknown
  reason: string
  attempts: number
  failed_at: string
}

const JOB_NAMES = Object.keys(JOBS) as JobName[] // keys of JOBS

export class FailedJobs {
  readonly #queues: Queues

  constructor(connection: Redis, prefix: string) {
    this.#queues = new Queues(connection, prefix)
  }

  /** The latest first. */
  async list(most: number): Promise<{ total: number; jobs: FailedJob[] }> {
    const found = await Promise.all(
      JOB_NAMES.map(async (name) => {
        const queue = this.#queues.getOrCreate(name)
        const [total, jobs] = await Promise.all([queue.getFailedCount(), queue.getFailed(0, most - 1)])
        return { total, jobs: jobs.flatMap((job) => (job ? [toFailedJob(name, job)] : [])) } // one may have gone meanwhile
      }),
    )
    return {
      total: found.reduce((sum, { total }) => sum + total, 0),
      jobs: found
        .flatMap(({ jobs }) => jobs)
        .toSorted((a, b) => (a.failed_at < b.failed_at ? 1 : -1))
        .slice(0, most),
    }
  }

  /** A failed job by its id; undefined if there is none, or it is not failed any more. */
  async get(id: string): Promise<{ name: JobName; job: Job } | undefined> {
    const at = id.indexOf('~')
    const name = JOB_NAMES.find((one) => one === id.slice(0, at))
    const job = name && (await this.#queues.getOrCreate(name).getJob(id.slice(at + 1)))
    return name && job && (await job.isFailed()) ? { name, job } : undefined
  }

  close(): Promise<void> {
    return this.#queues.close()
  }
}

export function parseJobData<Name extends JobName>(name: Name, job: Job): JobData<Name> {
  return JOBS[name].data.parse(job.data) as JobData<Name> // by its own schema
}

function toFailedJob(queue: JobName, job: Job): FailedJob {
  return {
    id: `${queue}~${job.id}`,
    queue,
    data: job.data,
    reason: job.failedReason ?? '',
    attempts: job.attemptsMade,
    failed_at: new Date(job.finishedOn ?? job.timestamp).toISOString(),
  }
}
