/** Figures per task over all runs. */
import type { Redis } from 'ioredis'
import type { TaskStatistics } from '../words/task.ts'
import type { Keys } from './keys.ts'
import { Sums } from './sums.ts'

export class TaskFigures {
  readonly #sums: Sums

  constructor(redis: Redis, keys: Keys) {
    this.#sums = new Sums(redis, keys.taskStatistics)
  }

  made(task: string, items: number, ms: number): void {
    this.#sums.add(`${task}:items`, items)
    this.#sums.add(`${task}:make_ms`, ms)
  }

  scored(task: string, rollouts: number, score: number): void {
    this.#sums.add(`${task}:rollouts`, rollouts)
    this.#sums.add(`${task}:score`, score)
  }

  /** Answers that a scorer was asked for; equal ones count once. */
  asked(task: string, answers: number, ms: number): void {
    this.#sums.add(`${task}:answers`, answers)
    this.#sums.add(`${task}:score_ms`, ms)
  }

  async of(task: string): Promise<TaskStatistics> {
    const names = ['items', 'make_ms', 'rollouts', 'score', 'answers', 'score_ms']
    const values = await this.#sums.readSome(names.map((name) => `${task}:${name}`))
    const [items = 0, makeMs = 0, rollouts = 0, score = 0, answers = 0, scoreMs = 0] = values
    const mean = (sum: number, n: number) => (n === 0 ? null : sum / n)
    return {
      items,
      rollouts,
      mean_score: mean(score, rollouts),
      make_ms: mean(makeMs, items),
      score_ms: mean(scoreMs, answers),
    }
  }

  flush(): Promise<void> {
    return this.#sums.flush()
  }

  close(): Promise<void> {
    return this.#sums.close()
  }
}
