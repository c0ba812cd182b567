/**
 * Which runs there are, when each was last used, and which of them the sweeps visit: those that may have something left
 * to do. So a thousand idle runs cost the sweeps nothing.
 *
 * All runs share the index, so in a cluster it is in other slots than they are, and no script can add a run together
 * with its work. Instead, a run is added before its work is stored, and removed only if it has no work and was not added
 * for much longer than any call takes. A repair at long intervals adds what a failover has lost.
 */

import { isTemporaryFailure } from '@reasoning-gym-server/contract/errors'
import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import pMap from 'p-map'
import type { Logger } from 'pino'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { translateRedisError } from '../../platform/redis/redis-errors.ts'
import { removeUnlessRenewed } from '../../platform/redis/sorted-sets.ts'
import { splitList } from '../../platform/split-list.ts'
import { type AllRunKeys, createRunKeys } from './records.ts'

/** Time for which this process does not add a run again that it has added. */
const REMEMBERED_MS = 30_000
const MAX_REMEMBERED = 10_000
/** Time for which a run stays after it was added. Longer than `REMEMBERED_MS` and any pause of a process that still ends well. */
const KEPT_MS = 15 * 60 * 1000
/** Number of runs that are read at a time, so that thousands of them do not delay other calls. */
export const CONCURRENT_RUN_READS = 32

export interface ListedRun {
  name: string
  /** Time of its last use, to half a minute, in milliseconds. */
  usedAt: number
}

export class RunIndex {
  readonly #redis: Redis
  readonly #keys: AllRunKeys
  /** Not `max`, which would allocate room for all of them at once. */
  readonly #added = new LRUCache<string, true>({
    maxSize: MAX_REMEMBERED,
    sizeCalculation: () => 1,
    ttl: REMEMBERED_MS,
  })
  readonly #keptMs: number

  constructor(redis: Redis, keys: RedisKeys, keptMs = KEPT_MS) {
    this.#redis = redis
    this.#keys = createRunKeys(keys)
    this.#keptMs = keptMs
  }

  /** Lists a name, and has the sweeps visit it. Call it before a run is created: no sweep would find an unlisted one. */
  async register(name: string): Promise<void> {
    await this.#redis.sadd(this.#keys.runs, name)
    await this.#add(name)
  }

  async unregister(name: string): Promise<void> {
    await Promise.all([
      this.#redis.srem(this.#keys.runs, name),
      this.#redis.zrem(this.#keys.runsByActivity, name),
      this.#redis.zrem(this.#keys.runsToSweep, name),
      this.setArchived(name, undefined),
    ])
  }

  /** Records when a run was archived, so that lists can count the others without reading them. */
  async setArchived(name: string, at: number | undefined): Promise<void> {
    if (at === undefined) await this.#redis.zrem(this.#keys.archivedRuns, name)
    else await this.#redis.zadd(this.#keys.archivedRuns, at, name)
  }

  /** Lists runs with the time at which they were archived. Rollouts may have made them active again. */
  async listArchived(): Promise<Map<string, number>> {
    return toTimes(await this.#redis.zrange(this.#keys.archivedRuns, '0', '-1', 'WITHSCORES'))
  }

  /**
   * Has the sweeps visit a run. Call it before storing what a sweep may have to find. Does not reject: the repair adds a
   * run that could not be added, and a full Redis must still release what it holds.
   */
  async markUsed({ name, epoch }: { name: string; epoch: number }): Promise<void> {
    const incarnation = `${name}/${epoch}`
    if (this.#added.has(incarnation)) return
    if (await this.#add(name)) this.#added.set(incarnation, true)
  }

  async #add(name: string): Promise<boolean> {
    const now = redisNow()
    try {
      await Promise.all([
        this.#redis.zadd(this.#keys.runsToSweep, now, name),
        this.#redis.zadd(this.#keys.runsByActivity, now, name),
      ])
      return true
    } catch {
      return false
    }
  }

  /** Adds a run of unknown activity, as a server of an earlier version or a failover leaves it. */
  async repair(name: string, { lastUsed, hasWork }: { lastUsed: number; hasWork: boolean }): Promise<void> {
    await this.#redis.zadd(this.#keys.runsByActivity, 'NX', lastUsed, name)
    if (hasWork) await this.#redis.zadd(this.#keys.runsToSweep, 'NX', redisNow(), name)
  }

  /** Removes a run without work from those that the sweeps visit, unless it was added recently. */
  async removeSettled(name: string): Promise<void> {
    await removeUnlessRenewed(this.#redis, this.#keys.runsToSweep, name, redisNow() - this.#keptMs)
  }

  /** Lists the names of runs, and of some that no longer exist. */
  listNames(): Promise<string[]> {
    return this.#redis.smembers(this.#keys.runs)
  }

  /** Lists the runs that may have something to sweep, and names of runs that are being created or removed. */
  listToSweep(): Promise<string[]> {
    return this.#redis.zrange(this.#keys.runsToSweep, '0', '-1')
  }

  /** Lists the names of runs by the time of their last use, to half a minute, most recent first. */
  async listByActivity(): Promise<ListedRun[]> {
    const [names, flat] = await Promise.all([
      this.listNames(),
      this.#redis.zrange(this.#keys.runsByActivity, '0', '-1', 'WITHSCORES'),
    ])
    const times = toTimes(flat)
    return names
      .map((name) => ({ name, usedAt: times.get(name) ?? 0 }))
      .toSorted((a, b) => b.usedAt - a.usedAt || (a.name < b.name ? -1 : 1))
  }
}

function toTimes(flat: string[]): Map<string, number> {
  return new Map(splitList(flat, 2).map(([name = '', time]) => [name, Number(time)]))
}

interface SweepOptions {
  /** Default: one after another. */
  concurrency?: number
}

/**
 * Visits many entries in a sweep: one that fails, because something in Redis is damaged, does not keep the others waiting.
 * Entries are names of runs, or say what they are. Rejects if Redis fails, which it does for all entries alike.
 */
export async function sweepEach<T extends string | object>(
  log: Logger,
  entries: readonly T[],
  sweep: (entry: T) => Promise<unknown>,
  { concurrency = 1 }: SweepOptions = {},
): Promise<void> {
  const visit = async (entry: T) => {
    try {
      await sweep(entry)
    } catch (err) {
      if (isTemporaryFailure(translateRedisError(err))) throw err
      const fields: object = typeof entry === 'string' ? { run: entry } : entry
      log.warn({ err, ...fields }, 'an entry could not be swept; the next sweep retries')
    }
  }
  await pMap(entries, visit, { concurrency })
}
