/**
 * What each caller has used in the running minute. Counted in the process, so that no call waits for Redis and the limits
 * hold without it; every half second the processes tell each other. So a limit may be passed by what one half second
 * brings, times the processes.
 */

import type { Caller } from '../../contract/caller.ts'
import type { ServerConfig } from '../../platform/config.ts'

const MINUTE_MS = 60_000
const SYNC_INTERVAL_MS = 500
/** Addresses counted one by one in a minute; those after them share one count. */
const MAX_TRACKED_CALLERS = 50_000

export interface RateUsage {
  requests: number
  bytes: number
}

/** A minute's allowance; null: as much as they like. */
export interface RateLimits {
  requests: number | null
  bytes: number | null
  /** Requests of an address without a key, where there are keys. */
  anonymousRequests: number | null
}

type RateLimitConfig = Pick<ServerConfig, 'RATE_LIMIT' | 'BYTE_RATE_LIMIT' | 'ANONYMOUS_RATE_LIMIT'>

/** With keys the limits are there to stop what has run wild: 10,000 calls a second, and what a fast network carries. */
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

/** Adds to what all processes know of a caller in a minute, perhaps nothing, and answers with the sum. */
export type ReportUsage = (minute: number, caller: string, more: RateUsage) => Promise<RateUsage>

interface UsageCount {
  local: RateUsage
  reported: RateUsage
  remote: RateUsage
  isSynced: boolean
}

export class RateLimiter {
  private readonly limits: RateLimits
  private readonly reportUsage: ReportUsage
  private readonly clock: () => number
  private readonly timer: NodeJS.Timeout
  private currentMinute = 0
  private usageByCaller = new Map<string, UsageCount>()

  constructor(limits: RateLimits, tell: ReportUsage, clock = Date.now) {
    this.limits = limits
    this.reportUsage = tell
    this.clock = clock
    this.timer = setInterval(() => void this.sync(), SYNC_INTERVAL_MS).unref()
  }

  /** Counts the use, or says in how many seconds there is an allowance again; what is refused is not counted. */
  consume(caller: Caller, { requests, bytes }: RateUsage): number | undefined {
    const { local: here, remote: elsewhere } = this.getOrCreateCount(caller)
    const most = caller.role === null ? this.limits.anonymousRequests : this.limits.requests
    const over =
      (most !== null && here.requests + elsewhere.requests + requests > most) ||
      (this.limits.bytes !== null && here.bytes + elsewhere.bytes >= this.limits.bytes)
    if (over) return Math.max(1, Math.ceil(((this.currentMinute + 1) * MINUTE_MS - this.clock()) / 1000))
    here.requests += requests
    here.bytes += bytes
    return undefined
  }

  /** Counts what has come without having been announced. */
  addBytes(caller: Caller, bytes: number): void {
    this.getOrCreateCount(caller).local.bytes += bytes
  }

  /** Tells the other processes, and learns from them. */
  async sync(): Promise<void> {
    const { currentMinute: minute } = this
    if (this.limits.requests === null && this.limits.bytes === null) return
    const known = [...this.usageByCaller].filter(([, { isSynced: shared }]) => shared)
    const telling = known.map(async ([caller, count]) => {
      const { local: here, reported: told } = count
      const now = { ...here }
      const all = await this.reportUsage(minute, caller, {
        requests: now.requests - told.requests,
        bytes: now.bytes - told.bytes,
      })
      count.reported = now
      count.remote = { requests: all.requests - now.requests, bytes: all.bytes - now.bytes }
    })
    await Promise.allSettled(telling) // without Redis each process counts by itself
  }

  close(): void {
    clearInterval(this.timer)
  }

  private getOrCreateCount({ id, role }: Caller): UsageCount {
    const minute = Math.floor(this.clock() / MINUTE_MS)
    if (minute !== this.currentMinute) {
      this.currentMinute = minute
      this.usageByCaller = new Map()
    }
    const name = this.usageByCaller.has(id) || this.usageByCaller.size < MAX_TRACKED_CALLERS ? id : 'all others'
    const known = this.usageByCaller.get(name)
    if (known) return known
    const zero = () => ({ requests: 0, bytes: 0 })
    // Strangers are counted here only: a flood of them is not passed on to Redis.
    const count = { local: zero(), reported: zero(), remote: zero(), isSynced: role !== null }
    this.usageByCaller.set(name, count)
    return count
  }
}
