/** BullMQ queues, opened on first use. */
import { Queue } from 'bullmq'
import type { Redis } from 'ioredis'

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
