/**
 * Limits the requests and body bytes of each caller per minute, except for probes. Each process counts by itself, so that no
 * request waits for Redis and the limits hold without it; the processes exchange their counts every half second. A limit can
 * therefore be exceeded by the traffic of half a second per process.
 *
 * @fastify/rate-limit has no limit of bytes. With its Redis store every request waits for Redis, and while Redis is down it
 * either rejects or admits all of them.
 */
import { randomUUID } from 'node:crypto'
import { Transform } from 'node:stream'
import type { Caller } from '@reasoning-gym-server/contract/caller'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import fastifyPlugin from 'fastify-plugin'
import type { Redis } from 'ioredis'
import { DEFAULT_LIMITS_WITH_KEYS, type ServerConfig } from '../platform/environment.ts'
import type { RedisKeys } from '../platform/redis/keys.ts'
import { redisNow } from '../platform/redis/redis-clock.ts'

/** Probes are not limited, because a rejected probe would restart a healthy server. */
export const PROBE_PATHS: ReadonlySet<string | undefined> = new Set(['/livez', '/readyz'])

const MINUTE_MS = 60_000
/** How long the counts of a minute stay in Redis. */
const USAGE_TTL_MS = 2 * MINUTE_MS
const SYNC_INTERVAL_MS = 500
/** Callers counted separately in a minute; further ones without a key share one count. */
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

/** Without keys, requests and bytes are unlimited by default. */
export function resolveRateLimits(
  { RATE_LIMIT, BYTE_RATE_LIMIT, ANONYMOUS_RATE_LIMIT }: RateLimitConfig,
  hasKeys: boolean,
): RateLimits {
  return {
    requests: RATE_LIMIT ?? (hasKeys ? DEFAULT_LIMITS_WITH_KEYS.requests : null),
    bytes: BYTE_RATE_LIMIT ?? (hasKeys ? DEFAULT_LIMITS_WITH_KEYS.bytes : null),
    anonymousRequests: ANONYMOUS_RATE_LIMIT,
  }
}

/** Tells the others what a caller has used of this process in a minute, if that has changed, and returns what it used of them. */
export type ExchangeUsage = (minute: number, caller: string, changed: RateUsage | undefined) => Promise<RateUsage>

interface UsageCount {
  local: RateUsage
  /** What the other processes know of `local`. */
  published: RateUsage
  remote: RateUsage
  isSynced: boolean
}

export class RateLimiter {
  readonly #limits: RateLimits
  readonly #exchangeUsage: ExchangeUsage
  readonly #clock: () => number
  readonly #timer: NodeJS.Timeout
  #currentMinute = 0
  #usageByCaller = new Map<string, UsageCount>()

  constructor(limits: RateLimits, exchangeUsage: ExchangeUsage, clock = redisNow) {
    this.#limits = limits
    this.#exchangeUsage = exchangeUsage
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
      const local = { ...count.local }
      const isChanged = local.requests !== count.published.requests || local.bytes !== count.published.bytes
      count.remote = await this.#exchangeUsage(minute, caller, isChanged ? local : undefined)
      count.published = local
    })
    await Promise.allSettled(reports) // without Redis each process counts by itself
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #getOrCreateCount({ id, role }: Caller): UsageCount {
    const minute = Math.floor(this.#clock() / MINUTE_MS) // since 1970: the same in every process
    if (minute !== this.#currentMinute) {
      this.#currentMinute = minute
      this.#usageByCaller = new Map()
    }
    const isTracked = role !== null || this.#usageByCaller.has(id) || this.#usageByCaller.size < MAX_TRACKED_CALLERS
    const name = isTracked ? id : 'overflow'
    const existing = this.#usageByCaller.get(name)
    if (existing) return existing
    const zero = () => ({ requests: 0, bytes: 0 })
    // Anonymous callers are counted in this process only: a flood of them must not reach Redis.
    const count = { local: zero(), published: zero(), remote: zero(), isSynced: role !== null }
    this.#usageByCaller.set(name, count)
    return count
  }
}

/** Through Redis. Each process writes its own sum, so that a call counts once, even if Redis completes it after its timeout. */
export function shareUsage(redis: Redis, keys: RedisKeys): ExchangeUsage {
  const process = randomUUID()
  return async (minute, caller, changed) => {
    const key = keys.key(`usage-by-process:${minute}:${caller}`) // earlier versions have other fields in `usage:`
    if (changed) {
      const usage = `${changed.requests} ${changed.bytes}`
      const replies = await redis.multi().hset(key, process, usage).pexpire(key, USAGE_TTL_MS).exec()
      for (const [error] of replies ?? []) if (error) throw error
    }
    const { [process]: _own, ...others } = await redis.hgetall(key)
    const usages = Object.values(others).map((usage) => usage.split(' ').map(Number))
    const sum = (at: number) => usages.reduce((all, usage) => all + (usage[at] ?? 0), 0)
    return { requests: sum(0), bytes: sum(1) }
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    /** For messages on open connections, of which the hooks see only the start; undefined without limits. */
    rateLimiter: RateLimiter | undefined
  }
}

interface RateLimitOptions {
  /** undefined: no limits. */
  rateLimiter: RateLimiter | undefined
}

/** Comes before authorization, so that floods without a key are limited too. */
export const rateLimit = fastifyPlugin<RateLimitOptions>(
  async (app, { rateLimiter }) => {
    app.decorate('rateLimiter', rateLimiter)
    if (!rateLimiter) return
    app.addHook('onRequest', ({ caller, headers, routeOptions }, _reply, done) => {
      if (PROBE_PATHS.has(routeOptions.url)) return done()
      const bytes = Number(headers['content-length'] ?? 0)
      const retryAfter = rateLimiter.consume(caller, { requests: 1, bytes })
      if (retryAfter !== undefined) {
        const subject = caller.role === null ? 'This address, which sent no valid key,' : 'This API key'
        const detail = `${subject} has reached its limit per minute. Retry in ${retryAfter} s.`
        throw new ServiceError('rate_limited', detail, { retryAfter })
      }
      done()
    })
    app.addHook('preParsing', ({ caller, headers }, _reply, payload, done) => {
      if (headers['transfer-encoding'] === undefined) return done(null, payload)
      const byteCounter = new Transform({
        transform(chunk: Buffer, _encoding, next) {
          rateLimiter.addBytes(caller, chunk.length)
          next(null, chunk)
        },
      })
      payload.once('error', (error) => byteCounter.destroy(error))
      done(null, payload.pipe(byteCounter))
    })
  },
  { name: 'rate-limit', dependencies: ['authentication'] },
)
