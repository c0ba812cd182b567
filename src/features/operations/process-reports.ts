/** The report that each process of the fleet writes to Redis every two seconds for the overview. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { ProcessStatus } from '@reasoning-gym-server/contract/overview'
import type { Redis } from 'ioredis'
import { z } from 'zod'
import type { Engine } from '../../engine/engine.ts'
import type { MetricsRecorder } from '../../platform/metrics/metrics-recorder.ts'
import type { ProcessIdentity } from '../../platform/process-state.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { tryRead } from '../../platform/redis/unreadable-entries.ts'

const REPORT_INTERVAL_MS = 2000
const REPORT_TTL_MS = 10_000

/** Interval at which the event loop is sampled. The measured delay includes it. */
const LOOP_DELAY_RESOLUTION_MS = 10

const StoredReport = z.object({ reported_at: z.number(), status: ProcessStatus })

interface ProcessReportsDeps {
  redis: Redis
  keys: RedisKeys
  engine: Engine
  recorder: MetricsRecorder
  identity: ProcessIdentity
}

/** The report that each process of the fleet writes to Redis every two seconds for the overview. */
export class ProcessReports {
  readonly #deps: ProcessReportsDeps
  readonly #loopDelay = monitorEventLoopDelay({ resolution: LOOP_DELAY_RESOLUTION_MS })
  readonly #timer: NodeJS.Timeout

  constructor(deps: ProcessReportsDeps) {
    this.#deps = deps
    this.#loopDelay.enable()
    this.#timer = setInterval(() => void this.#report(), REPORT_INTERVAL_MS)
  }

  /** Lists the live processes, API processes first. */
  async list(): Promise<ProcessStatus[]> {
    const { redis, keys, identity } = this.#deps
    const entries = Object.entries(await redis.hgetall(keys.key('process-reports')))
    const key = keys.key('process-reports')
    const parse = (name: string, text: string) =>
      tryRead(redis, { key, name }, () => parseReport(JSON.parse(text) as unknown))
    const reports = entries.map(([name, text]) => ({ name, report: parse(name, text) }))
    const expired = reports.filter(({ report }) => report === undefined)
    if (expired.length > 0) await redis.hdel(keys.key('process-reports'), ...expired.map(({ name }) => name))
    const others = reports.flatMap(({ name, report }) => (report && name !== identity.process ? [report] : []))
    return [this.#describe(), ...others].toSorted(
      (a, b) => a.role.localeCompare(b.role) || a.process.localeCompare(b.process),
    )
  }

  async close(): Promise<void> {
    const { redis, keys, identity } = this.#deps
    clearInterval(this.#timer)
    this.#loopDelay.disable()
    await redis.hdel(keys.key('process-reports'), identity.process).catch(() => {}) // expires otherwise
  }

  async #report(): Promise<void> {
    const { redis, keys, recorder, identity } = this.#deps
    try {
      const report: z.infer<typeof StoredReport> = { reported_at: redisNow(), status: this.#describe() }
      this.#loopDelay.reset()
      const startedAt = performance.now()
      await redis.ping()
      recorder.recordRedisPing((performance.now() - startedAt) / 1000)
      await redis.hset(keys.key('process-reports'), identity.process, JSON.stringify(report))
    } catch {
      // Redis is unavailable, or there are too many open files to read the memory in use; the next report follows soon
    }
  }

  #describe(): ProcessStatus {
    const { engine, identity } = this.#deps
    const workers = Object.entries(engine.pythonWorkers())
    return {
      ...identity,
      engine_up: engine.health().ok,
      workers: Object.fromEntries(workers.map(([kind, { alive }]) => [kind, alive])),
      resident_bytes: process.memoryUsage.rss(),
      event_loop_p99_s: Math.max(0, (this.#loopDelay.percentile(99) / 1e6 - LOOP_DELAY_RESOLUTION_MS) / 1000),
    }
  }
}

/** Returns undefined if the process has not reported for a while or its report has the format of another version. */
function parseReport(stored: unknown): ProcessStatus | undefined {
  const { success, data } = StoredReport.safeParse(stored)
  return success && redisNow() - data.reported_at < REPORT_TTL_MS ? data.status : undefined
}
