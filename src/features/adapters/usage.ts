/**
 * Tracks which adapters were used recently, across all nodes. Each process counts its own use and adds it to Redis
 * every few seconds.
 */

import type { AdapterName, AdapterView } from '@reasoning-gym-server/contract/adapter'
import type { Redis } from 'ioredis'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'

const FLUSH_INTERVAL_MS = 2000

export class AdapterUsage {
  readonly #redis: Redis
  readonly #keys: RedisKeys
  readonly #uncounted = new Map<AdapterName, { samples: number; unscored: number; run: string | undefined }>()
  readonly #timer: NodeJS.Timeout

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = keys
    this.#timer = setInterval(() => void this.flush(), FLUSH_INTERVAL_MS)
    this.#timer.unref()
  }

  record(
    adapter: AdapterName,
    run: string | undefined,
    results: readonly { verdict: { status: 'scored' | 'unscored' } }[],
  ): void {
    this.recordCalls(
      adapter,
      run,
      results.length,
      results.filter(({ verdict }) => verdict.status === 'unscored').length,
    )
  }

  recordCalls(adapter: AdapterName, run: string | undefined, samples: number, unscored = 0): void {
    const before = this.#uncounted.get(adapter)
    this.#uncounted.set(adapter, {
      samples: (before?.samples ?? 0) + samples,
      unscored: (before?.unscored ?? 0) + unscored,
      run,
    })
  }

  /** Never rejects: counts that Redis does not accept are lost, because usage is only informational. */
  async flush(): Promise<void> {
    const uncounted = [...this.#uncounted]
    this.#uncounted.clear()
    const now = new Date(redisNow()).toISOString()
    await Promise.allSettled(
      uncounted.flatMap(([adapter, { samples, unscored, run }]) => {
        const key = this.#buildKey(adapter)
        return [
          this.#redis.hincrby(key, 'samples', samples),
          this.#redis.hincrby(key, 'unscored', unscored),
          this.#redis.hset(key, 'last_used', now, 'last_run', run ?? ''),
        ]
      }),
    )
  }

  async read(adapter: AdapterName): Promise<AdapterView['usage']> {
    const {
      samples = '0',
      unscored = '0',
      last_used = null,
      last_run,
    } = await this.#redis.hgetall(this.#buildKey(adapter))
    return { samples: Number(samples), unscored: Number(unscored), last_used, last_run: last_run || null }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }

  /** Hash: usage of an adapter. */
  #buildKey(adapter: AdapterName): string {
    return this.#keys.key(`adapter-usage:${adapter}`)
  }
}
