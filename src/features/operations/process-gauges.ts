/** Gauges of each process, told to Redis every two seconds, so that whoever is asked can answer for all of them. */
import { hostname } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Redis } from 'ioredis'
import type { Engine } from '../../engine/engine.ts'
import { type GaugeValue, gaugeValue } from '../../platform/metrics/metric-definitions.ts'
import type { MetricsRecorder } from '../../platform/metrics/metrics-recorder.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'

const REPORT_INTERVAL_MS = 2000
const REPORT_TTL_MS = 10_000

/** How often the loop is asked; what it measures has this in it. */
const LOOP_DELAY_RESOLUTION_MS = 10

export type ProcessRole = 'api' | 'worker'

interface ProcessGaugesDeps {
  redis: Redis
  keys: RedisKeys
  engine: Engine
  recorder: MetricsRecorder
  role: ProcessRole
}

interface ProcessReport {
  at: number
  samples: GaugeValue[]
}

export class ProcessGauges {
  readonly #deps: ProcessGaugesDeps
  readonly #processName = `${hostname()}/${process.pid}`
  readonly #loopDelay = monitorEventLoopDelay({ resolution: LOOP_DELAY_RESOLUTION_MS })
  readonly #timer: NodeJS.Timeout
  readonly #recordedExits = new Map<string, number>()

  constructor(parts: ProcessGaugesDeps) {
    this.#deps = parts
    this.#loopDelay.enable()
    this.#timer = setInterval(() => void this.#report(), REPORT_INTERVAL_MS)
  }

  /** The gauges of this process, as they are now. */
  listOwn(): GaugeValue[] {
    const { role, engine } = this.#deps
    const labels = { process: this.#processName, role }
    const { user, system } = process.cpuUsage()
    const quantiles = {
      '0.5': this.#loopDelay.percentile(50),
      '0.99': this.#loopDelay.percentile(99),
      '1': this.#loopDelay.max,
    }
    return [
      gaugeValue('rgs_process_up', labels, 1),
      gaugeValue('rgs_process_resident_bytes', labels, process.memoryUsage.rss()),
      gaugeValue('rgs_process_cpu_seconds', labels, (user + system) / 1e6),
      gaugeValue('rgs_engine_up', labels, engine.health().ok ? 1 : 0),
      ...Object.entries(engine.pythonWorkers()).map(([kind, { alive }]) =>
        gaugeValue('rgs_engine_hosts', { ...labels, kind }, alive),
      ),
      ...Object.entries(quantiles).map(([quantile, ns]) =>
        gaugeValue('rgs_event_loop_delay_seconds', { ...labels, quantile }, toLoopDelaySeconds(ns)),
      ),
    ]
  }

  /** The gauges of every process that lives; this one's are of now. */
  async listAll(): Promise<GaugeValue[]> {
    const { redis, keys } = this.#deps
    const told = Object.entries(await redis.hgetall(keys.key('process-reports')))
    const reports = told.map(([name, text]) => ({ name, ...(JSON.parse(text) as ProcessReport) })) // written by #tell
    const [alive, gone] = [true, false].map((lives) =>
      reports
        .filter(({ at }) => Date.now() - at < REPORT_TTL_MS === lives)
        .map(({ name, samples }) => ({ name, samples })),
    )
    if (gone && gone.length > 0) await redis.hdel(keys.key('process-reports'), ...gone.map(({ name }) => name))
    const others = (alive ?? []).filter(({ name }) => name !== this.#processName)
    return [...this.listOwn(), ...others.flatMap(({ samples }) => samples)]
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#loopDelay.disable()
    await this.#deps.redis.hdel(this.#deps.keys.key('process-reports'), this.#processName).catch(() => {})
  }

  async #report(): Promise<void> {
    const { redis, keys, recorder: meters } = this.#deps
    this.#recordWorkerExits()
    const report: ProcessReport = { at: Date.now(), samples: this.listOwn() }
    this.#loopDelay.reset()
    try {
      const asked = performance.now()
      await redis.ping()
      meters.observe('rgs_redis_ping_seconds', {}, (performance.now() - asked) / 1000)
      await redis.hset(keys.key('process-reports'), this.#processName, JSON.stringify(report))
    } catch {
      // Redis is away: told again soon
    }
  }

  /** The engine counts since the process began; the shared sums are told what is new. */
  #recordWorkerExits(): void {
    for (const [kind, { ends }] of Object.entries(this.#deps.engine.pythonWorkers())) {
      for (const [cause, count] of Object.entries(ends)) {
        const key = `${kind} ${cause}`
        const more = count - (this.#recordedExits.get(key) ?? 0)
        if (more === 0) continue
        this.#recordedExits.set(key, count)
        this.#deps.recorder.increment('rgs_engine_host_ends_total', { kind, cause }, more)
      }
    }
  }
}

function toLoopDelaySeconds(ns: number): number {
  return Math.max(0, ns / 1e9 - LOOP_DELAY_RESOLUTION_MS / 1000)
}
