/**
 * What each caller has used in the running minute. Counted in the process, so that no call waits for Redis and the limits
 * hold without it; every half second the processes tell each other. So a limit may be passed by what one half second
 * brings, times the processes.
 */
import type { Config } from '../config.ts'
import type { Caller } from '../words/caller.ts'

const MINUTE_MS = 60_000
const TELL_MS = 500
/** Addresses counted one by one in a minute; those after them share one count. */
const MOST_COUNTED = 50_000

export interface Use {
  requests: number
  bytes: number
}

/** A minute's allowance; null: as much as they like. */
export interface Limits {
  requests: number | null
  bytes: number | null
  /** Requests of an address without a key, where there are keys. */
  requestsOfStrangers: number | null
}

type Settings = Pick<Config, 'RATE_LIMIT' | 'BYTES_LIMIT' | 'STRANGER_RATE_LIMIT'>

/** With keys the limits are there to stop what has run wild: 10,000 calls a second, and what a fast network carries. */
export function limitsOf({ RATE_LIMIT, BYTES_LIMIT, STRANGER_RATE_LIMIT }: Settings, hasKeys: boolean): Limits {
  return {
    requests: RATE_LIMIT ?? (hasKeys ? 600_000 : null),
    bytes: BYTES_LIMIT ?? (hasKeys ? 16 * 2 ** 30 : null),
    requestsOfStrangers: STRANGER_RATE_LIMIT,
  }
}

/** Adds to what all processes know of a caller in a minute, perhaps nothing, and answers with the sum. */
export type Tell = (minute: number, caller: string, more: Use) => Promise<Use>

interface Count {
  here: Use
  told: Use
  elsewhere: Use
  shared: boolean
}

export class Meter {
  private readonly limits: Limits
  private readonly tell: Tell
  private readonly clock: () => number
  private readonly timer: NodeJS.Timeout
  private minute = 0
  private counts = new Map<string, Count>()

  constructor(limits: Limits, tell: Tell, clock = Date.now) {
    this.limits = limits
    this.tell = tell
    this.clock = clock
    this.timer = setInterval(() => void this.share(), TELL_MS).unref()
  }

  /** Counts the use, or says in how many seconds there is an allowance again; what is refused is not counted. */
  use(caller: Caller, { requests, bytes }: Use): number | undefined {
    const { here, elsewhere } = this.countOf(caller)
    const most = caller.role === null ? this.limits.requestsOfStrangers : this.limits.requests
    const over =
      (most !== null && here.requests + elsewhere.requests + requests > most) ||
      (this.limits.bytes !== null && here.bytes + elsewhere.bytes >= this.limits.bytes)
    if (over) return Math.max(1, Math.ceil(((this.minute + 1) * MINUTE_MS - this.clock()) / 1000))
    here.requests += requests
    here.bytes += bytes
    return undefined
  }

  /** Counts what has come without having been announced. */
  add(caller: Caller, bytes: number): void {
    this.countOf(caller).here.bytes += bytes
  }

  /** Tells the other processes, and learns from them. */
  async share(): Promise<void> {
    const { minute } = this
    if (this.limits.requests === null && this.limits.bytes === null) return
    const known = [...this.counts].filter(([, { shared }]) => shared)
    const telling = known.map(async ([caller, count]) => {
      const { here, told } = count
      const now = { ...here }
      const all = await this.tell(minute, caller, {
        requests: now.requests - told.requests,
        bytes: now.bytes - told.bytes,
      })
      count.told = now
      count.elsewhere = { requests: all.requests - now.requests, bytes: all.bytes - now.bytes }
    })
    await Promise.allSettled(telling) // without Redis each process counts by itself
  }

  close(): void {
    clearInterval(this.timer)
  }

  private countOf({ id, role }: Caller): Count {
    const minute = Math.floor(this.clock() / MINUTE_MS)
    if (minute !== this.minute) {
      this.minute = minute
      this.counts = new Map()
    }
    const name = this.counts.has(id) || this.counts.size < MOST_COUNTED ? id : 'all others'
    const known = this.counts.get(name)
    if (known) return known
    const zero = () => ({ requests: 0, bytes: 0 })
    // Strangers are counted here only: a flood of them is not passed on to Redis.
    const count = { here: zero(), told: zero(), elsewhere: zero(), shared: role !== null }
    this.counts.set(name, count)
    return count
  }
}
