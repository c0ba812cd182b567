/** Gauges of each process, told to Redis every two seconds, so that whoever is asked can answer for all of them. */
import { hostname } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Redis } from 'ioredis'
import type { Engine } from '../engine/engine.ts'
import type { Keys } from '../store/keys.ts'
import { type Sample, sample } from './catalogue.ts'
import type { Meters } from './meters.ts'

const EVERY_MS = 2000
const ALIVE_MS = 10_000

/** How often the loop is asked; what it measures has this in it. */
const RESOLUTION_MS = 10

export type Role = 'api' | 'worker'

interface Parts {
  redis: Redis
  keys: Keys
  engine: Engine
  meters: Meters
  role: Role
}

interface Report {
  at: number
  samples: Sample[]
}

export class ProcessReports {
  readonly #parts: Parts
  readonly #process = `${hostname()}/${process.pid}`
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  readonly #timer: NodeJS.Timeout
  readonly #counted = new Map<string, number>()

  constructor(parts: Parts) {
    this.#parts = parts
    this.#delay.enable()
    this.#timer = setInterval(() => void this.#tell(), EVERY_MS)
  }

  /** The gauges of this process, as they are now. */
  own(): Sample[] {
    const { role, engine } = this.#parts
    const labels = { process: this.#process, role }
    const { user, system } = process.cpuUsage()
    const quantiles = { '0.5': this.#delay.percentile(50), '0.99': this.#delay.percentile(99), '1': this.#delay.max }
    return [
      sample('rgs_process_up', labels, 1),
      sample('rgs_process_resident_bytes', labels, process.memoryUsage.rss()),
      sample('rgs_process_cpu_seconds', labels, (user + system) / 1e6),
      sample('rgs_engine_up', labels, engine.health().ok ? 1 : 0),
      ...Object.entries(engine.hosts()).map(([kind, { alive }]) =>
        sample('rgs_engine_hosts', { ...labels, kind }, alive),
      ),
      ...Object.entries(quantiles).map(([quantile, ns]) =>
        sample('rgs_event_loop_delay_seconds', { ...labels, quantile }, delayOf(ns)),
      ),
    ]
  }

  /** The gauges of every process that lives; this one's are of now. */
  async all(): Promise<Sample[]> {
    const { redis, keys } = this.#parts
    const told = Object.entries(await redis.hgetall(keys.processes))
    const reports = told.map(([name, text]) => ({ name, ...(JSON.parse(text) as Report) })) // written by #tell
    const [alive, gone] = [true, false].map((lives) =>
      reports.filter(({ at }) => Date.now() - at < ALIVE_MS === lives).map(({ name, samples }) => ({ name, samples })),
    )
    if (gone && gone.length > 0) await redis.hdel(keys.processes, ...gone.map(({ name }) => name))
    const others = (alive ?? []).filter(({ name }) => name !== this.#process)
    return [...this.own(), ...others.flatMap(({ samples }) => samples)]
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#delay.disable()
    await this.#parts.redis.hdel(this.#parts.keys.processes, this.#process).catch(() => {})
  }

  async #tell(): Promise<void> {
    const { redis, keys, meters } = this.#parts
    this.#countEnds()
    const report: Report = { at: Date.now(), samples: this.own() }
    this.#delay.reset()
    try {
      const asked = performance.now()
      await redis.ping()
      meters.observe('rgs_redis_ping_seconds', {}, (performance.now() - asked) / 1000)
      await redis.hset(keys.processes, this.#process, JSON.stringify(report))
    } catch {
      // Redis is away: told again soon
    }
  }

  /** The engine counts since the process began; the shared sums are told what is new. */
  #countEnds(): void {
    for (const [kind, { ends }] of Object.entries(this.#parts.engine.hosts())) {
      for (const [cause, count] of Object.entries(ends)) {
        const key = `${kind} ${cause}`
        const more = count - (this.#counted.get(key) ?? 0)
        if (more === 0) continue
        this.#counted.set(key, count)
        this.#parts.meters.count('rgs_engine_host_ends_total', { kind, cause }, more)
      }
    }
  }
}

function delayOf(ns: number): number {
  return Math.max(0, ns / 1e9 - RESOLUTION_MS / 1000)
}
