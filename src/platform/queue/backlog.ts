/** Reads how much work waits in each queue, and for how long. */
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

export class QueueBacklogReader {
  readonly #queues: Queues
  readonly #definitions: readonly JobDefinition[]

  constructor(connection: Redis, prefix: string, definitions: readonly JobDefinition[]) {
    this.#queues = new Queues(connection, prefix)
    this.#definitions = definitions
  }

  readAll(): Promise<QueueBacklog[]> {
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

  close(): Promise<void> {
    return this.#queues.close()
  }
}
