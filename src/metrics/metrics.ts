/** The metrics of one process, and its answer for all of them. */
import type { Redis } from 'ioredis'
import type { Engine } from '../engine/engine.ts'
import { Fault } from '../faults.ts'
import { Backlog } from '../queue/backlog.ts'
import type { DumpBook } from '../store/dumps.ts'
import type { Groups } from '../store/groups.ts'
import type { Keys } from '../store/keys.ts'
import { pingMasters } from '../store/nodes.ts'
import { answeredWithin, PROBE_MS, redisFault } from '../store/redis.ts'
import type { Runs } from '../store/runs.ts'
import type { Samplings } from '../store/samplings.ts'
import { Sums } from '../store/sums.ts'
import { VERSION } from '../version.ts'
import type { Overview } from '../words/overview.ts'
import { sample } from './catalogue.ts'
import { exposition } from './exposition.ts'
import { Meters } from './meters.ts'
import { processesOf, queuesOf } from './overview.ts'
import { ProcessReports, type Role } from './processes.ts'
import { standing } from './standing.ts'
import { totalsOf } from './totals.ts'
import { Trail, type TrailPoint } from './trail.ts'

interface Parts {
  redis: Redis
  keys: Keys
  engine: Engine
  runs: Runs
  groups: Groups
  dumps: DumpBook
  samplings: Samplings
  role: Role
}

/**
 * Counters and histograms are sums in Redis that every process adds to once a second, so that any process answers for
 * all, and none of them ever falls when a process ends. A process that is killed takes its last second with it.
 */
export class Metrics {
  readonly meters: Meters
  readonly #parts: Parts
  readonly #sums: Sums
  readonly #reports: ProcessReports
  readonly #backlog: Backlog
  readonly #trail: Trail

  constructor(parts: Parts) {
    this.#parts = parts
    this.#sums = new Sums(parts.redis, parts.keys.metrics)
    this.meters = new Meters(this.#sums)
    this.#reports = new ProcessReports({ ...parts, meters: this.meters })
    this.#backlog = new Backlog(parts.redis, parts.keys.jobs)
    this.#trail = new Trail(parts.redis, parts.keys, () => this.#point())
  }

  /**
   * Prometheus text. While Redis is away, or stuck: this process's own gauges, and `rgs_redis_up 0`. Only the ping is
   * bounded: with many runs the rest may take longer, which says nothing about Redis. Only runs that `may` allows are named.
   */
  async text(may: (run: string) => boolean): Promise<string> {
    const always = [sample('rgs_build_info', { version: VERSION, engine: this.#parts.engine.version }, 1)]
    try {
      const [sums, processes, state] = await Promise.all([
        this.#sums.read(),
        this.#reports.all(),
        standing({ ...this.#parts, backlog: this.#backlog }, may),
        answeredWithin(PROBE_MS, pingMasters(this.#parts.redis)),
      ])
      return await exposition(sums, [...always, sample('rgs_redis_up', {}, 1), ...processes, ...state])
    } catch (error) {
      if (!(redisFault(error) instanceof Fault)) throw error
      return exposition([], [...always, sample('rgs_redis_up', {}, 0), ...this.#reports.own()])
    }
  }

  /** What the first page of the dashboard shows. */
  async overview(): Promise<Pick<Overview, 'totals' | 'queues' | 'processes'>> {
    const [sums, backlog, processes] = await Promise.all([this.#sums.read(), this.#backlog.all(), this.#reports.all()])
    return { totals: totalsOf(sums), queues: queuesOf(backlog, Date.now()), processes: processesOf(processes) }
  }

  /** The totals of the last hour, oldest first. */
  trail(): Promise<TrailPoint[]> {
    return this.#trail.read()
  }

  async #point(): Promise<TrailPoint> {
    const [sums, backlog] = await Promise.all([this.#sums.read(), this.#backlog.all()])
    const queued = backlog.reduce((sum, { jobs }) => sum + jobs.waiting + jobs.active + jobs.delayed, 0)
    return { at: new Date().toISOString(), queued, ...totalsOf(sums) }
  }

  async close(): Promise<void> {
    this.#trail.close()
    await this.#reports.close()
    await this.#sums.close()
    await this.#backlog.close()
  }
}
