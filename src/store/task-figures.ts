/** Figures per task over all runs: counted in the process, added to Redis every second; eventually right. */
import type { Redis } from 'ioredis'
import type { TaskStatistics } from '../words/task.ts'
import type { Keys } from './keys.ts'

const FLUSH_MS = 1000

export class TaskFigures {
  readonly #redis: Redis
  readonly #keys: Keys
  readonly #timer: NodeJS.Timeout
  #sums = new Map<string, number>()

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis
    this.#keys = keys
    this.#timer = setInterval(() => void this.flush(), FLUSH_MS)
  }

  made(task: string, items: number, ms: number): void {
    this.#add(`${task}:items`, items)
    this.#add(`${task}:make_ms`, ms)
  }

  scored(task: string, rollouts: number, score: number): void {
    this.#add(`${task}:rollouts`, rollouts)
    this.#add(`${task}:score`, score)
  }

  /** Answers that a scorer was asked for; equal ones count once. */
  asked(task: string, answers: number, ms: number): void {
    this.#add(`${task}:answers`, answers)
    this.#add(`${task}:score_ms`, ms)
  }

  async of(task: string): Promise<TaskStatistics> {
    const names = ['items', 'make_ms', 'rollouts', 'score', 'answers', 'score_ms']
    const values = await this.#redis.hmget(this.#keys.taskStatistics, ...names.map((name) => `${task}:${name}`))
    const [items = 0, makeMs = 0, rollouts = 0, score = 0, answers = 0, scoreMs = 0] = values.map(Number)
    const mean = (sum: number, n: number) => (n === 0 ? null : sum / n)
    return {
      items,
      rollouts,
      mean_score: mean(score, rollouts),
      make_ms: mean(makeMs, items),
      score_ms: mean(scoreMs, answers),
    }
  }

  async flush(): Promise<void> {
    if (this.#sums.size === 0) return
    const sums = this.#sums
    this.#sums = new Map()
    try {
      const pipeline = this.#redis.pipeline()
      for (const [field, amount] of sums) pipeline.hincrbyfloat(this.#keys.taskStatistics, field, amount)
      await pipeline.exec()
    } catch {
      for (const [field, amount] of sums) this.#add(field, amount) // Redis is away: next time
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }

  #add(field: string, amount: number): void {
    this.#sums.set(field, (this.#sums.get(field) ?? 0) + amount)
  }
}
