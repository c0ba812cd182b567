/** Sums in a Redis hash that all processes add to: counted in the process, added every second; eventually right. */
import type { Redis } from 'ioredis'

const FLUSH_MS = 1000

export class Sums {
  readonly #redis: Redis
  readonly #key: string
  readonly #timer: NodeJS.Timeout
  #amounts = new Map<string, number>()

  constructor(redis: Redis, key: string) {
    this.#redis = redis
    this.#key = key
    this.#timer = setInterval(() => void this.flush(), FLUSH_MS)
  }

  add(field: string, amount: number): void {
    this.#amounts.set(field, (this.#amounts.get(field) ?? 0) + amount)
  }

  /** What Redis could not be told now is told the next time. */
  async flush(): Promise<void> {
    if (this.#amounts.size === 0) return
    const amounts = [...this.#amounts]
    this.#amounts = new Map()
    const pipeline = this.#redis.pipeline()
    for (const [field, amount] of amounts) pipeline.hincrbyfloat(this.#key, field, amount)
    const results = await pipeline.exec().catch(() => null)
    amounts.forEach(([field, amount], k) => {
      if (results?.[k]?.[0] !== null) this.add(field, amount)
    })
  }

  async read(): Promise<[field: string, sum: number][]> {
    await this.flush()
    return Object.entries(await this.#redis.hgetall(this.#key)).map(([field, sum]) => [field, Number(sum)])
  }

  async readSome(fields: string[]): Promise<number[]> {
    return (await this.#redis.hmget(this.#key, ...fields)).map(Number)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }
}
