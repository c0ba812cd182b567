/** Figures per task over all runs. */

import type { TaskStatistics } from '@reasoning-gym-server/contract/task'
import type { Redis } from 'ioredis'
import { meanOfSum } from '../../grading/statistics.ts'
import { type SharedCounter, SharedCounters } from '../../platform/metrics/shared-counters.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'

const STATISTIC_NAMES = ['items', 'make_ms', 'rollouts', 'score', 'answers', 'score_ms'] as const

export class TaskStatisticsRecorder {
  readonly #sharedCounters: SharedCounters
  readonly #countersByTask = new Map<string, Record<(typeof STATISTIC_NAMES)[number], SharedCounter>>()

  constructor(redis: Redis, keys: RedisKeys) {
    this.#sharedCounters = new SharedCounters(redis, keys.key('task-statistics'))
  }

  recordGeneratedItems(task: string, items: number, ms: number): void {
    const tallies = this.#getOrCreateCounters(task)
    tallies.items.add(items)
    tallies.make_ms.add(ms)
  }

  recordScoredRollouts(task: string, rollouts: number, score: number): void {
    const tallies = this.#getOrCreateCounters(task)
    tallies.rollouts.add(rollouts)
    tallies.score.add(score)
  }

  /** Records answers that a scorer was asked to score. Equal answers count once. */
  recordScorerCalls(task: string, answers: number, ms: number): void {
    const tallies = this.#getOrCreateCounters(task)
    tallies.answers.add(answers)
    tallies.score_ms.add(ms)
  }

  async read(task: string): Promise<TaskStatistics> {
    const values = await this.#sharedCounters.readFields(
      STATISTIC_NAMES.map((name) => formatStatisticField(task, name)),
    )
    const [items = 0, makeMs = 0, rollouts = 0, score = 0, answers = 0, scoreMs = 0] = values
    return {
      items,
      rollouts,
      mean_score: meanOfSum(score, rollouts),
      make_ms: meanOfSum(makeMs, items),
      score_ms: meanOfSum(scoreMs, answers),
    }
  }

  flush(): Promise<void> {
    return this.#sharedCounters.flush()
  }

  close(): Promise<void> {
    return this.#sharedCounters.close()
  }

  #getOrCreateCounters(task: string): Record<(typeof STATISTIC_NAMES)[number], SharedCounter> {
    let tallies = this.#countersByTask.get(task)
    if (!tallies) {
      const tally = (name: (typeof STATISTIC_NAMES)[number]) =>
        this.#sharedCounters.getOrCreate(formatStatisticField(task, name))
      tallies = {
        items: tally('items'),
        make_ms: tally('make_ms'),
        rollouts: tally('rollouts'),
        score: tally('score'),
        answers: tally('answers'),
        score_ms: tally('score_ms'),
      }
      this.#countersByTask.set(task, tallies)
    }
    return tallies
  }
}

function formatStatisticField(task: string, name: (typeof STATISTIC_NAMES)[number]): string {
  return `${task}:${name}`
}
