/** Puts jobs on the queues. A job is only a hint to work: what must be done is noted in the run's slot first. */
import { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { JOBS, type JobData, type JobName } from './catalogue.ts'

export class Producer {
  readonly #queues = new Map<JobName, Queue>()
  readonly #connection: Redis
  readonly #prefix: string

  /** `connection` must fail at once while Redis is away: BullMQ itself would wait for ever. */
  constructor(connection: Redis, prefix: string) {
    this.#connection = connection
    this.#prefix = prefix
  }

  async add<Name extends JobName>(name: Name, jobs: { id: string; data: JobData<Name> }[]): Promise<void> {
    const row = JOBS[name]
    const { attempts, backoffMs } = row
    const opts = {
      attempts,
      backoff: { type: 'exponential', delay: backoffMs, jitter: 0.5 },
      removeOnComplete: true,
      removeOnFail: 'forgetFailures' in row ? true : { count: 1000 },
    }
    await this.#queue(name).addBulk(jobs.map(({ id, data }) => ({ name, data, opts: { ...opts, jobId: id } })))
  }

  async close(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()))
  }

  #queue(name: JobName): Queue {
    let queue = this.#queues.get(name)
    if (!queue) {
      queue = new Queue(name, {
        connection: this.#connection,
        prefix: this.#prefix,
        skipWaitingForReady: true,
        skipVersionCheck: true, // one that failed would be remembered for ever
      })
      queue.on('error', () => {}) // met by the call that adds
      this.#queues.set(name, queue)
    }
    return queue
  }
}
