/** Sums in a Redis hash over all processes: counted in the process, added to Redis every second; eventually right. */
import type { Redis } from 'ioredis'

const FLUSH_INTERVAL_MS = 1000

/** What this process has yet to add to one sum. Callers keep it, so that adding needs no lookup. */
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

  /** What cannot be added now stays pending. */
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
