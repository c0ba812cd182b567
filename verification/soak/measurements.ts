/** What is sampled while a soak lasts: processes often, Redis and dashboards now and then; each a series by name. */
import type { Sample } from './growth.ts'
import { readCpuSeconds, readProcesses } from './process-table.ts'
import { type RedisCensus, RedisCounter } from './redis-census.ts'
import type { OpenDashboards } from './traffic/open-dashboards.ts'

/** Their processes come and go. */
export const PYTHON_WORKERS = 'python workers'
export const LARGEST_PYTHON_WORKER = 'the largest Python worker'
const CHANGING_ROLES = new Set([PYTHON_WORKERS, 'zombies'])

export class Series {
  readonly byName = new Map<string, Sample[]>()

  add(name: string, at: number, value: number): void {
    const samples = this.byName.get(name) ?? []
    samples.push({ at, value })
    this.byName.set(name, samples)
  }
}

export class Measurements {
  readonly memoryMb = new Series()
  readonly fileDescriptors = new Series()
  readonly processes = new Series()
  readonly lastingKeys = new Series()
  readonly lastingKb = new Series()
  readonly redisMb = new Series()
  /** Processes that exited by themselves and were restarted. */
  readonly restarts: string[] = []
  census: RedisCensus | undefined
  readonly #serverPid: number
  readonly #redis: RedisCounter
  readonly #dashboards: OpenDashboards
  readonly #pids = new Map<string, number>()
  #cpu: { at: number; seconds: number }
  cpuPercent = 0

  constructor(server: { pid: number; dataDir: string }, redisSocket: string, dashboards: OpenDashboards) {
    this.#serverPid = server.pid
    this.#redis = new RedisCounter(redisSocket)
    this.#dashboards = dashboards
    this.#cpu = { at: performance.now() / 1000, seconds: readCpuSeconds(server.pid) }
  }

  sampleProcesses(at: number): void {
    for (const { name, pids, memoryMb, largestMb, fileDescriptors } of readProcesses(this.#serverPid)) {
      this.memoryMb.add(name, at, memoryMb)
      this.fileDescriptors.add(name, at, fileDescriptors)
      if (name === PYTHON_WORKERS) this.memoryMb.add(LARGEST_PYTHON_WORKER, at, largestMb)
      this.processes.add(name, at, pids.length)
      if (CHANGING_ROLES.has(name)) continue
      const [pid = 0] = pids
      const before = this.#pids.get(name)
      if (before !== undefined && before !== pid) this.restarts.push(`${name} at ${at.toFixed(0)} s`)
      this.#pids.set(name, pid)
    }
  }

  async sampleState(at: number): Promise<void> {
    this.census = await this.#redis.count()
    for (const { pattern, lasting, lastingBytes } of this.census.patterns) {
      this.lastingKeys.add(pattern, at, lasting)
      this.lastingKb.add(pattern, at, lastingBytes / 1024)
    }
    const expiringMb = this.census.patterns.reduce((sum, { expiringBytes }) => sum + expiringBytes, 0) / 1024 ** 2
    this.redisMb.add('used_memory', at, this.census.usedMb)
    this.redisMb.add('used_memory without keys that expire', at, this.census.usedMb - expiringMb)
    for (const [name, mb] of await this.#dashboards.measureHeaps()) this.memoryMb.add(name, at, mb)
    const now = { at: performance.now() / 1000, seconds: readCpuSeconds(this.#serverPid) }
    this.cpuPercent = (100 * (now.seconds - this.#cpu.seconds)) / Math.max(1, now.at - this.#cpu.at)
    this.#cpu = now
  }

  close(): void {
    this.#redis.close()
  }
}
