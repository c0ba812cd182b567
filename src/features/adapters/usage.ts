/**
 * Tracks which adapters were used recently, across all nodes. Each process counts its own use and adds it to Redis
 * every few seconds.
 */

import type { AdapterName } from '@reasoning-gym-server/contract/adapter'
import type { Redis } from 'ioredis'
import { fleetNow } from '../../platform/redis/fleet-clock.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { createAdapterKeys } from './keys.ts'
import type { SampleResult } from './sample-scoring.ts'

const FLUSH_INTERVAL_MS = 2000

export interface AdapterUsageSummary {
  /** Number of samples, rows or messages since the server's data began. */
  samples: number
  unscored: number
  /** ISO time of the last use; null if it was never used. */
  lastUsed: string | null
  /** Run of the last call that named one; null if there is none. */
  lastRun: string | null
}

interface Uncounted {
  samples: number
  unscored: number
  run: string | undefined
}

export class AdapterUsage {
  readonly #redis: Redis
  readonly #keyOf: (adapter: AdapterName) => string
  readonly #uncounted = new Map<AdapterName, Uncounted>()
  readonly #timer: NodeJS.Timeout

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keyOf = createAdapterKeys(keys).usage
    this.#timer = setInterval(() => void this.flush(), FLUSH_INTERVAL_MS)
    this.#timer.unref()
  }

  record(adapter: AdapterName, run: string | undefined, results: Pick<SampleResult, 'verdict'>[]): void {
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
    const now = new Date(fleetNow()).toISOString()
    await Promise.allSettled(
      uncounted.flatMap(([adapter, { samples, unscored, run }]) => {
        const key = this.#keyOf(adapter)
        return [
          this.#redis.hincrby(key, 'samples', samples),
          this.#redis.hincrby(key, 'unscored', unscored),
          this.#redis.hset(key, 'last_used', now, 'last_run', run ?? ''),
        ]
      }),
    )
  }

  async read(adapter: AdapterName): Promise<AdapterUsageSummary> {
    const { samples = '0', unscored = '0', last_used, last_run } = await this.#redis.hgetall(this.#keyOf(adapter))
    return {
      samples: Number(samples),
      unscored: Number(unscored),
      lastUsed: last_used ?? null,
      lastRun: last_run || null,
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }
}
