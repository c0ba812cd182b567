/** Sums in a Redis hash that all processes add to: counted in the process, added every second; eventually right. */
import type { Redis } from 'ioredis'

const FLUSH_INTERVAL_MS = 1000

/** What this process has to add to one sum. Its owner keeps it, so that adding needs no look-up. */
export class SharedCounter {
  pendingAmount = 0
  /** Set by every addition: a sum of zero is told too. */
  hasPending = false

  add(amount: number): void {
    this.pendingAmount += amount
    this.hasPending = true
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

  /** The same object whenever it is asked for: fields are few, and kept as long as the process lives. */
  getOrCreate(field: string): SharedCounter {
    let tally = this.#counters.get(field)
    if (!tally) {
      tally = new SharedCounter()
      this.#counters.set(field, tally)
    }
    return tally
  }

  /** What Redis could not be told now is told the next time. */
  async flush(): Promise<void> {
    const told = [...this.#counters].flatMap(([field, tally]) => {
      if (!tally.hasPending) return []
      const { pendingAmount: amount } = tally
      tally.pendingAmount = 0
      tally.hasPending = false
      return [{ field, tally, amount }]
    })
    if (told.length === 0) return
    const pipeline = this.#redis.pipeline()
    for (const { field, amount } of told) pipeline.hincrbyfloat(this.#key, field, amount)
    const results = await pipeline.exec().catch(() => null)
    told.forEach(({ tally, amount }, k) => {
      if (results?.[k]?.[0] !== null) tally.add(amount)
    })
  }

  async readAll(): Promise<[field: string, sum: number][]> {
    await this.flush()
    return Object.entries(await this.#redis.hgetall(this.#key)).map(([field, sum]) => [field, Number(sum)])
  }

  async readFields(fields: string[]): Promise<number[]> {
    return (await this.#redis.hmget(this.#key, ...fields)).map(Number)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }
}
