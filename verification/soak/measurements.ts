/** What is sampled while a soak lasts: processes often, Redis and dashboards now and then; each a series by name. */
import { readdirSync } from 'node:fs'
import { listDescendants, readProc, readProportionalMb } from '../support/processes.ts'
import type { Sample } from './growth.ts'
import type { OpenDashboards } from './open-dashboards.ts'
import { type RedisCensus, RedisCounter } from './redis-census.ts'

/** Their processes come and go. */
export const PYTHON_WORKERS = 'python workers'
export const LARGEST_PYTHON_WORKER = 'the largest Python worker'
const CHANGING_ROLES = new Set([PYTHON_WORKERS, 'zombies'])
const ROLES: [RegExp, string][] = [
  [/src\/main\/serve\.ts/, 'npm start'],
  [/src\/main\/api\.ts/, 'api'],
  [/src\/main\/worker\.ts/, 'worker'],
  [/redis-server/, 'redis'],
  [/<defunct>/, 'zombies'],
]
const SINGLE_ROLES = new Set(['npm start', 'redis', PYTHON_WORKERS, 'zombies'])
const TICKS_PER_SECOND = 100

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

  constructor(server: { pid: number }, redisSocket: string, dashboards: OpenDashboards) {
    this.#serverPid = server.pid
    this.#redis = new RedisCounter(redisSocket)
    this.#dashboards = dashboards
    this.#cpu = { at: performance.now() / 1000, seconds: readCpuSeconds(server.pid) }
  }

  sampleProcesses(at: number): void {
    for (const [name, pids] of groupByRole(this.#serverPid)) {
      const memoryMb = pids.map(readProportionalMb)
      this.memoryMb.add(
        name,
        at,
        memoryMb.reduce((sum, mb) => sum + mb, 0),
      )
      this.fileDescriptors.add(name, at, Math.max(...pids.map(countFileDescriptors)))
      if (name === PYTHON_WORKERS) this.memoryMb.add(LARGEST_PYTHON_WORKER, at, Math.max(...memoryMb))
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

/** The processes of a server by role, with a number if several have it: `api 1`. All Python workers count as one. */
function groupByRole(root: number): Map<string, number[]> {
  const pidsOf = new Map<string, number[]>()
  const counts = new Map<string, number>()
  const tree = listDescendants(root)
  const zygotes = new Set(tree.filter(({ args }) => args.includes('zygote.py')).map(({ pid }) => pid))
  for (const { pid, ppid, args } of [{ pid: root, ppid: 0, args: 'src/main/serve.ts' }, ...tree]) {
    const ofPython = zygotes.has(ppid) ? PYTHON_WORKERS : 'zygote'
    const role = args.includes('zygote.py') ? ofPython : ROLES.find(([pattern]) => pattern.test(args))?.[1]
    if (role === undefined) continue // `ps`, or a child of Redis that rewrites its file
    const count = (counts.get(role) ?? 0) + 1
    counts.set(role, count)
    const name = SINGLE_ROLES.has(role) ? role : `${role} ${count}`
    pidsOf.set(name, [...(pidsOf.get(name) ?? []), pid])
  }
  return pidsOf
}

/** Processor time that the server and its descendants have used, including that of ended children. */
function readCpuSeconds(root: number): number {
  const pids = [root, ...listDescendants(root).map(({ pid }) => pid)]
  return pids.reduce((sum, pid) => sum + readTicks(pid), 0) / TICKS_PER_SECOND
}

function readTicks(pid: number): number {
  const fields = readProc(`${pid}/stat`)
    .replace(/^.*\) /, '')
    .split(' ')
  return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at] ?? 0), 0) // utime, stime, and those of ended children
}

function countFileDescriptors(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0 // the process has ended
  }
}
