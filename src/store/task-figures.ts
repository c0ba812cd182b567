/** Figures per task over all runs. */
import type { Redis } from 'ioredis'
import type { TaskStatistics } from '../words/task.ts'
import type { Keys } from './keys.ts'
import { Sums, type Tally } from './sums.ts'

const NAMES = ['items', 'make_ms', 'rollouts', 'score', 'answers', 'score_ms'] as const

export class TaskFigures {
  readonly #sums: Sums
  readonly #tallies = new Map<string, Record<(typeof NAMES)[number], Tally>>()

  constructor(redis: Redis, keys: Keys) {
    this.#sums = new Sums(redis, keys.taskStatistics)
  }

  made(task: string, items: number, ms: number): void {
    const tallies = this.#of(task)
    tallies.items.add(items)
    tallies.make_ms.add(ms)
  }

  scored(task: string, rollouts: number, score: number): void {
    const tallies = this.#of(task)
    tallies.rollouts.add(rollouts)
    tallies.score.add(score)
  }

  /** Answers that a scorer was asked for; equal ones count once. */
  asked(task: string, answers: number, ms: number): void {
    const tallies = this.#of(task)
    tallies.answers.add(answers)
    tallies.score_ms.add(ms)
  }

  async of(task: string): Promise<TaskStatistics> {
    const values = await this.#sums.readSome(NAMES.map((name) => fieldOf(task, name)))
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

  #of(task: string): Record<(typeof NAMES)[number], Tally> {
    let tallies = this.#tallies.get(task)
    if (!tallies) {
      const tally = (name: (typeof NAMES)[number]) => this.#sums.tally(fieldOf(task, name))
      tallies = {
        items: tally('items'),
        make_ms: tally('make_ms'),
        rollouts: tally('rollouts'),
        score: tally('score'),
        answers: tally('answers'),
        score_ms: tally('score_ms'),
      }
      this.#tallies.set(task, tallies)
    }
    return tallies
  }
}

function fieldOf(task: string, name: (typeof NAMES)[number]): string {
  return `${task}:${name}`
}
