/** Sums over all processes in a Redis hash. Each process adds its counts every second, so the sums are eventually consistent. */
import type { Redis } from 'ioredis'

const FLUSH_INTERVAL_MS = 1000

/** The pending part of one sum in this process. Callers hold on to it, so that adding needs no lookup. */
export class SharedCounter {
  pendingAmount = 0

  add(amount: number): void {
    this.pendingAmount += amount
  }
}

export class SharedCounters {
  readonly #redis: Redis
  readonly #key: string
  readonly #timer: NodeJS.Timeout
  readonly #counters = new Map<string, SharedCounter>()

  constructor(redis: Redis, key: string) {
    this.#redis = redis
    this.#key = key
    this.#timer = setInterval(() => void this.flush(), FLUSH_INTERVAL_MS)
  }

  /** Always the same object for a field: fields are few and kept for the life of the process. */
  getOrCreate(field: string): SharedCounter {
    let counter = this.#counters.get(field)
    if (!counter) {
      counter = new SharedCounter()
      this.#counters.set(field, counter)
    }
    return counter
  }

  /** Counts that cannot be added now stay pending. */
  async flush(): Promise<void> {
    const pending = [...this.#counters].flatMap(([field, counter]) => {
      const { pendingAmount: amount } = counter
      if (amount === 0) return []
      counter.pendingAmount = 0
      return [{ field, counter, amount }]
    })
    if (pending.length === 0) return
    const pipeline = this.#redis.pipeline()
    for (const { field, amount } of pending) pipeline.hincrbyfloat(this.#key, field, amount)
    const results = await pipeline.exec().catch(() => null)
    pending.forEach(({ counter, amount }, k) => {
      if (results?.[k]?.[0] !== null) counter.add(amount)
    })
  }

  async readFields(fields: string[]): Promise<number[]> {
    return (await this.#redis.hmget(this.#key, ...fields)).map(Number)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }
}
