/** Puts jobs on the queues. A job is only a hint to work: what must be done is noted in the run's slot first. */
import type { Redis } from 'ioredis'
import { JOBS, type JobData, type JobName } from './job-definitions.ts'
import { Queues } from './queues.ts'

export class Producer {
  readonly #queues: Queues

  constructor(connection: Redis, prefix: string) {
    this.#queues = new Queues(connection, prefix)
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
    const queue = this.#queues.getOrCreate(name)
    const all = jobs.map(({ id, data }) => ({ name, data, opts: { ...opts, jobId: id } }))
    const [one, ...others] = all
    if (!one) return
    if (others.length > 0) await queue.addBulk(all)
    else await queue.add(name, one.data, one.opts) // a transaction for one job takes twice as long
  }

  close(): Promise<void> {
    return this.#queues.close()
  }
}
