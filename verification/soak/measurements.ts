/** What is sampled while a soak lasts, each quantity a series by name, and how much it may grow. */
import { readdirSync } from 'node:fs'
import { Redis } from 'ioredis'
import { listDescendants, readProportionalMb } from '../support/processes.ts'
import { type Allowance, assessGrowth, type Sample } from './growth.ts'
import { countKeys } from './redis-census.ts'

/** Their processes come and go. */
const PYTHON_WORKERS = 'python workers'
const CHANGING_ROLES = new Set([PYTHON_WORKERS, 'zombies'])
const ROLES: [RegExp, string][] = [
  [/src\/main\/serve\.ts/, 'npm start'],
  [/src\/main\/api\.ts/, 'api'],
  [/src\/main\/worker\.ts/, 'worker'],
  [/redis-server/, 'redis'],
  [/<defunct>/, 'zombies'],
]
const SINGLE_ROLES = new Set(['npm start', 'redis', PYTHON_WORKERS, 'zombies'])
/** A short soak ends while processes are still growing to their working size. */
const WARM_UP_S = 20 * 60

const ALLOWANCES = {
  memory: { flat: 24, hourly: 32 },
  'memory of a short soak': { flat: 96, hourly: 32 },
  /** Slow answers have more of them forked, up to a bound, and none of them lives long. */
  'memory of Python workers': { flat: 512, hourly: 0 },
  files: { flat: 64, hourly: 0 },
  processes: { flat: 8, hourly: 0 },
  'Python processes': { flat: 48, hourly: 0 },
  keys: { flat: 100, hourly: 100 },
  /** A run without steps has up to 1,024 blocks, and then 512 more whenever its groups have doubled. */
  'blocks of groups': { flat: 1024, hourly: 512 },
  'KB of keys': { flat: 512, hourly: 1024 },
  'MB of Redis': { flat: 8, hourly: 8 },
} as const satisfies Record<string, Allowance>
type Kind = keyof typeof ALLOWANCES

export class Measurements {
  /** Processes that exited by themselves and were restarted. */
  readonly restarts: string[] = []
  readonly #series = new Map<string, { kind: Kind; samples: Sample[] }>()
  readonly #serverPid: number
  readonly #redis: Redis
  readonly #pids = new Map<string, number>()

  constructor(serverPid: number, redisSocket: string) {
    this.#serverPid = serverPid
    this.#redis = new Redis(redisSocket)
  }

  add(kind: Kind, name: string, at: number, value: number): void {
    const series = this.#series.get(name) ?? { kind, samples: [] }
    series.samples.push({ at, value })
    this.#series.set(name, series)
  }

  sampleProcesses(at: number): void {
    for (const [role, pids] of groupByRole(this.#serverPid)) {
      const memoryMb = pids.reduce((sum, pid) => sum + readProportionalMb(pid), 0)
      const arePython = role === PYTHON_WORKERS
      this.add(arePython ? 'memory of Python workers' : 'memory', `MB of ${role}`, at, memoryMb)
      this.add('files', `files of ${role}`, at, Math.max(...pids.map(countFileDescriptors)))
      this.add(arePython ? 'Python processes' : 'processes', `processes of ${role}`, at, pids.length)
      if (CHANGING_ROLES.has(role)) continue
      const [pid = 0] = pids
      const before = this.#pids.get(role)
      if (before !== undefined && before !== pid) this.restarts.push(`${role} at ${at.toFixed(0)} s`)
      this.#pids.set(role, pid)
    }
  }

  async sampleRedis(at: number): Promise<void> {
    const { usedMb, expiringMb, lasting } = await countKeys(this.#redis)
    this.add('MB of Redis', 'MB of Redis without keys that expire', at, usedMb - expiringMb)
    for (const [pattern, { keys, bytes }] of lasting) {
      this.add(pattern.includes(':block-sums:') ? 'blocks of groups' : 'keys', `keys ${pattern}`, at, keys)
      this.add('KB of keys', `KB of keys ${pattern}`, at, bytes / 1024)
    }
  }

  /** For a table, and what grew by more than it may. */
  assess(seconds: number): { rows: Record<string, object>; failures: string[] } {
    const rows: Record<string, object> = {}
    const failures: string[] = []
    for (const [name, { kind, samples }] of this.#series) {
      const isShort = kind === 'memory' && seconds < WARM_UP_S
      const growth = assessGrowth(samples, ALLOWANCES[isShort ? 'memory of a short soak' : kind])
      const { first, last, grownBy, allowed } = growth
      const shown = Object.entries({ first, last, trend: grownBy, allowed }).map(([key, value]) => [
        key,
        Number(value.toFixed(1)),
      ])
      rows[name] = Object.fromEntries(shown)
      if (growth.fails) failures.push(`${name} grew by ${grownBy.toFixed(1)} (allowed: ${allowed.toFixed(1)})`)
    }
    return { rows, failures }
  }

  close(): void {
    this.#redis.disconnect()
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

function countFileDescriptors(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0 // the process has ended
  }
}
