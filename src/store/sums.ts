/** Sums in a Redis hash that all processes add to: counted in the process, added every second; eventually right. */
import type { Redis } from 'ioredis'

const FLUSH_MS = 1000

/** What this process has to add to one sum. Its owner keeps it, so that adding needs no look-up. */
export class Tally {
  amount = 0
  /** Set by every addition: a sum of zero is told too. */
  isNew = false

  add(amount: number): void {
    this.amount += amount
    this.isNew = true
  }
}

export class Sums {
  readonly #redis: Redis
  readonly #key: string
  readonly #timer: NodeJS.Timeout
  readonly #tallies = new Map<string, Tally>()

  constructor(redis: Redis, key: string) {
    this.#redis = redis
    this.#key = key
    this.#timer = setInterval(() => void this.flush(), FLUSH_MS)
  }

  /** The same object whenever it is asked for: fields are few, and kept as long as the process lives. */
  tally(field: string): Tally {
    let tally = this.#tallies.get(field)
    if (!tally) {
      tally = new Tally()
      this.#tallies.set(field, tally)
    }
    return tally
  }

  /** What Redis could not be told now is told the next time. */
  async flush(): Promise<void> {
    const told = [...this.#tallies].flatMap(([field, tally]) => {
      if (!tally.isNew) return []
      const { amount } = tally
      tally.amount = 0
      tally.isNew = false
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
