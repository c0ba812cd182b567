/**
 * Computes a reward for samples that could not be scored, for trainers that require a number: the mean reward so far of
 * the item's other samples. The group mean does not change, and the sample's own advantage is 0. Applies only to calls
 * that request it.
 */
import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import { mean } from '../../grading/statistics.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import type { SampleResult } from './sample-scoring.ts'

/** Longer than a trainer takes from the first sample of a group to the last. */
const TTL_S = 3600

export type UnscoredRewards = 'zero' | 'mean'

interface RewardSum {
  sum: number
  count: number
}

export class MeanRewardFallback {
  readonly #redis: Redis
  readonly #keys: RedisKeys

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = keys
  }

  /** Returns the reward of each sample of a call, or 0 without a better value. Never rejects. */
  async getRewards(run: string | undefined, results: SampleResult[], rule: UnscoredRewards): Promise<number[]> {
    const means = rule === 'zero' ? undefined : await this.#computeMeans(run, results)
    return results.map(({ itemId, verdict }) => verdict.reward ?? means?.get(itemId) ?? 0)
  }

  /** Mean rewards, keyed by item. Without a run, or without Redis, only the samples of the call contribute. */
  async #computeMeans(run: string | undefined, results: SampleResult[]): Promise<Map<string | undefined, number>> {
    const byItem = [...Map.groupBy(results, ({ itemId }) => itemId)]
    const means = await Promise.all(
      byItem.map(async ([itemId, members]) => {
        const rewards = members.flatMap(({ verdict }) => verdict.reward ?? [])
        const known = run === undefined || itemId === undefined ? undefined : await this.#add(run, itemId, rewards)
        if (known && known.count > 0) return [itemId, known.sum / known.count] as const
        return [itemId, rewards.length > 0 ? mean(rewards) : 0] as const
      }),
    )
    return new Map(means)
  }

  async #add(run: string, itemId: string, rewards: number[]): Promise<RewardSum | undefined> {
    const key = this.#buildKey(run, itemId)
    const sum = rewards.reduce((a, b) => a + b, 0)
    const replies = await this.#redis
      .multi()
      .hincrbyfloat(key, 'sum', sum)
      .hincrby(key, 'count', rewards.length)
      .expire(key, TTL_S)
      .exec()
      .catch(() => null)
    const [total, count] = (replies ?? []).map(([error, value]) => (error ? Number.NaN : Number(value)))
    return total === undefined || count === undefined || Number.isNaN(total + count) ? undefined : { sum: total, count }
  }

  /** Hash: sum and number of the recent rewards of an item's samples. */
  #buildKey(run: string, itemId: string): string {
    return this.#keys.key(`sibling-rewards:${run}:${createHash('sha1').update(itemId).digest('base64url')}`)
  }
}
