/** The queues of all kinds of jobs, opened when they are asked for. */
import { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import type { JobName } from './job-definitions.ts'

export class Queues {
  readonly #queues = new Map<JobName, Queue>()
  readonly #connection: Redis
  readonly #prefix: string

  /** `connection` must fail at once while Redis is away: BullMQ itself would wait for ever. */
  constructor(connection: Redis, prefix: string) {
    this.#connection = connection
    this.#prefix = prefix
  }

  getOrCreate(name: JobName): Queue {
    let queue = this.#queues.get(name)
    if (!queue) {
      queue = new Queue(name, {
        connection: this.#connection,
        prefix: this.#prefix,
        skipWaitingForReady: true,
        skipVersionCheck: true, // one that failed would be remembered for ever
      })
      queue.on('error', () => {}) // met by the call that asks
      this.#queues.set(name, queue)
    }
    return queue
  }

  async close(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()))
  }
}
