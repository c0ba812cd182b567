/** Adds jobs to the queues. A job is only a hint: the work itself is stored first, and the sweeper adds lost jobs again. */
import type { Redis } from 'ioredis'
import type { JobDefinition } from './job-definition.ts'
import { Queues } from './queues.ts'

const MAX_KEPT_FAILURES = 1000

export class Producer {
  readonly #queues: Queues

  constructor(connection: Redis, prefix: string) {
    this.#queues = new Queues(connection, prefix)
  }

  /** A job whose ID is already in the queue is not added again. */
  async add<Data>(definition: JobDefinition<Data>, jobs: { id: string; data: NoInfer<Data> }[]): Promise<void> {
    const { name, attempts, backoffMs, discardFailures = false } = definition
    const opts = {
      attempts,
      backoff: { type: 'exponential', delay: backoffMs, jitter: 0.5 },
      removeOnComplete: true,
      removeOnFail: discardFailures || { count: MAX_KEPT_FAILURES },
    }
    const queue = this.#queues.getOrCreate(name)
    const bulk = jobs.map(({ id, data }) => ({ name, data, opts: { ...opts, jobId: id } }))
    const [first, ...rest] = bulk
    if (!first) return
    if (rest.length > 0) await queue.addBulk(bulk)
    else await queue.add(name, first.data, first.opts) // a transaction for one job takes twice as long
  }

  close(): Promise<void> {
    return this.#queues.close()
  }
}
