/**
 * Counts what each caller uses in the current minute. Each process counts by itself, so that no request waits for Redis and the
 * limits hold without it; the processes exchange their counts every half second. A limit can therefore be exceeded by the
 * traffic of half a second per process.
 */

import type { Caller } from '@reasoning-gym-server/contract/caller'
import type { ServerConfig } from '../../platform/config.ts'
import { fleetNow } from '../../platform/redis/fleet-clock.ts'
import { getMinute, MINUTE_MS } from './minute-window.ts'

const SYNC_INTERVAL_MS = 500
/** Callers counted separately in a minute; further ones share one count. */
const MAX_TRACKED_CALLERS = 50_000

export interface RateUsage {
  requests: number
  bytes: number
}

/** Allowance per minute; null: unlimited. */
export interface RateLimits {
  requests: number | null
  bytes: number | null
  /** Requests of an address without a key, where keys are configured. */
  anonymousRequests: number | null
}

type RateLimitConfig = Pick<ServerConfig, 'RATE_LIMIT' | 'BYTE_RATE_LIMIT' | 'ANONYMOUS_RATE_LIMIT'>

/** With keys, the default limits only stop runaway clients: 10,000 requests a second, and the bandwidth of a fast network. */
export function resolveRateLimits(
  { RATE_LIMIT, BYTE_RATE_LIMIT, ANONYMOUS_RATE_LIMIT }: RateLimitConfig,
  hasKeys: boolean,
): RateLimits {
  return {
    requests: RATE_LIMIT ?? (hasKeys ? 600_000 : null),
    bytes: BYTE_RATE_LIMIT ?? (hasKeys ? 16 * 2 ** 30 : null),
    anonymousRequests: ANONYMOUS_RATE_LIMIT,
  }
}

/** Adds usage, possibly none, to the shared count of a caller in a minute, and returns the sum of all processes. */
export type ReportUsage = (minute: number, caller: string, more: RateUsage) => Promise<RateUsage>

interface UsageCount {
  local: RateUsage
  reported: RateUsage
  remote: RateUsage
  isSynced: boolean
}

export class RateLimiter {
  readonly #limits: RateLimits
  readonly #reportUsage: ReportUsage
  readonly #clock: () => number
  readonly #timer: NodeJS.Timeout
  #currentMinute = 0
  #usageByCaller = new Map<string, UsageCount>()

  constructor(limits: RateLimits, reportUsage: ReportUsage, clock = fleetNow) {
    this.#limits = limits
    this.#reportUsage = reportUsage
    this.#clock = clock
    this.#timer = setInterval(() => void this.sync(), SYNC_INTERVAL_MS).unref()
  }

  /** Counts the usage, or returns the seconds until the next allowance; a rejected request is not counted. */
  consume(caller: Caller, { requests, bytes }: RateUsage): number | undefined {
    const { local, remote } = this.#getOrCreateCount(caller)
    const limit = caller.role === null ? this.#limits.anonymousRequests : this.#limits.requests
    const isOverLimit =
      (limit !== null && local.requests + remote.requests + requests > limit) ||
      (this.#limits.bytes !== null && local.bytes + remote.bytes >= this.#limits.bytes)
    if (isOverLimit) return Math.max(1, Math.ceil(((this.#currentMinute + 1) * MINUTE_MS - this.#clock()) / 1000))
    local.requests += requests
    local.bytes += bytes
    return undefined
  }

  /** Counts bytes of a body whose length was not declared. */
  addBytes(caller: Caller, bytes: number): void {
    this.#getOrCreateCount(caller).local.bytes += bytes
  }

  /** Exchanges counts with the other processes. */
  async sync(): Promise<void> {
    const minute = this.#currentMinute
    if (this.#limits.requests === null && this.#limits.bytes === null) return
    const syncedCounts = [...this.#usageByCaller].filter(([, { isSynced }]) => isSynced)
    const reports = syncedCounts.map(async ([caller, count]) => {
      const { reported } = count
      const local = { ...count.local }
      const total = await this.#reportUsage(minute, caller, {
        requests: local.requests - reported.requests,
        bytes: local.bytes - reported.bytes,
      })
      count.reported = local
      count.remote = { requests: total.requests - local.requests, bytes: total.bytes - local.bytes }
    })
    await Promise.allSettled(reports) // without Redis each process counts by itself
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #getOrCreateCount({ id, role }: Caller): UsageCount {
    const minute = getMinute(this.#clock())
    if (minute !== this.#currentMinute) {
      this.#currentMinute = minute
      this.#usageByCaller = new Map()
    }
    const name = this.#usageByCaller.has(id) || this.#usageByCaller.size < MAX_TRACKED_CALLERS ? id : 'overflow'
    const existing = this.#usageByCaller.get(name)
    if (existing) return existing
    const zero = () => ({ requests: 0, bytes: 0 })
    // Anonymous callers are counted in this process only: a flood of them must not reach Redis.
    const count = { local: zero(), reported: zero(), remote: zero(), isSynced: role !== null }
    this.#usageByCaller.set(name, count)
    return count
  }
}
