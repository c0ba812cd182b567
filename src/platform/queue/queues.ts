/** BullMQ queues, opened on first use, and the producer that adds jobs to them. */
import { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import type { JobDefinition } from './job-definition.ts'

export class Queues {
  readonly #queues = new Map<string, Queue>()
  readonly #connection: Redis
  readonly #prefix: string

  /** `connection` must fail at once while Redis is unavailable: BullMQ itself would wait forever. */
  constructor(connection: Redis, prefix: string) {
    this.#connection = connection
    this.#prefix = prefix
  }

  getOrCreate(name: string): Queue {
    let queue = this.#queues.get(name)
    if (!queue) {
      queue = new Queue(name, {
        connection: this.#connection,
        prefix: this.#prefix,
        skipWaitingForReady: true,
        skipVersionCheck: true, // BullMQ would remember a check that failed while Redis was unavailable
      })
      queue.on('error', () => {}) // each call reports its own failure
      this.#queues.set(name, queue)
    }
    return queue
  }

  async close(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()))
  }
}

const MAX_KEPT_FAILURES = 1000

/** Adds jobs. A job is only a hint: the work itself is stored first, and the sweeper adds lost jobs again. */
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
