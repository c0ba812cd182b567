/** Sums over all processes in a Redis hash. Each process adds its counts every second, so the sums are eventually consistent. */
import type { Redis } from 'ioredis'

const FLUSH_INTERVAL_MS = 1000

export class SharedCounters {
  readonly #redis: Redis
  readonly #key: string
  readonly #collect: () => Promise<void>
  readonly #timer: NodeJS.Timeout
  readonly #pending = new Map<string, number>()

  /** `collect` runs before each flush. It may add what this process counts elsewhere. */
  constructor(redis: Redis, key: string, collect = async (): Promise<void> => {}) {
    this.#redis = redis
    this.#key = key
    this.#collect = collect
    this.#timer = setInterval(() => void this.flush(), FLUSH_INTERVAL_MS)
  }

  add(field: string, amount: number): void {
    if (amount !== 0) this.#pending.set(field, (this.#pending.get(field) ?? 0) + amount)
  }

  /** Counts that cannot be added now stay pending. */
  async flush(): Promise<void> {
    await this.#collect()
    const pending = [...this.#pending]
    this.#pending.clear()
    if (pending.length === 0) return
    const pipeline = this.#redis.pipeline()
    for (const [field, amount] of pending) pipeline.hincrbyfloat(this.#key, field, amount)
    const results = await pipeline.exec().catch(() => null)
    pending.forEach(([field, amount], k) => {
      if (results?.[k]?.[0] !== null) this.add(field, amount)
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
