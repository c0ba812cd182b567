/** The real processes: two API nodes, two workers, one append-only Redis; each can be killed with -9 and comes back. */
import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensurePythonEnvironment } from '../../src/main/bootstrap/python/python-environment.ts'
import { resolveRedisBinary } from '../../src/main/bootstrap/redis/redis-binary.ts'
import { isProcessAlive } from '../../src/platform/process-state.ts'
import { endProcess, findFreePortPairs, LoopbackRedis } from '../support/loopback-redis.ts'
import type { SeededRandom } from './seeded-random.ts'

const SOURCE_DIR = join(import.meta.dirname, '..', '..', 'src', 'main')
const START_TIMEOUT_MS = 300_000 // on a busy machine
const RESTART_DELAY_MS = 200

/** A node of the server: started again whenever it ends. */
class ManagedProcess {
  readonly #start: () => ChildProcess
  #child: ChildProcess
  #stopping = false
  isUp = false

  constructor(start: () => ChildProcess) {
    this.#start = start
    this.#child = this.#spawn()
    process.once('exit', () => this.kill()) // nothing outlives a storm that is broken off
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  async stop(): Promise<void> {
    this.#stopping = true
    await endProcess(this.#child, 'SIGTERM')
  }

  #spawn(): ChildProcess {
    const child = this.#start()
    child.once('message', () => {
      this.isUp = true
    })
    child.once('exit', () => {
      this.isUp = false
      setTimeout(() => {
        if (!this.#stopping) this.#child = this.#spawn()
      }, RESTART_DELAY_MS)
    })
    return child
  }
}

export type ProcessKind = 'api' | 'worker' | 'host' | 'redis'

/** The Redis under a fleet. */
export interface FleetRedis {
  /** What REDIS_URL is set to. */
  url: string
  /** Environment variables that nodes on this Redis need. */
  settings?: Record<string, string>
  stop(): Promise<void>
}

/** One Redis, which a chaos run kills and starts again. */
class SingleRedis implements FleetRedis {
  readonly url: string
  readonly #server: LoopbackRedis

  constructor(server: LoopbackRedis) {
    this.#server = server
    this.url = `redis://127.0.0.1:${server.port}`
  }

  async crash(awayMs: number): Promise<void> {
    await this.#server.kill()
    await sleep(awayMs)
    this.#server.restart()
  }

  stop(): Promise<void> {
    return this.#server.stop()
  }
}

/** The machines of a fleet. */
export interface FleetMachines {
  /** Starts a process of the k-th API node or worker, with a channel of messages as `fork` has. */
  start(role: FleetRole, k: number, script: string, env: NodeJS.ProcessEnv, log: number): ChildProcess
  /** Under which the load reaches the k-th API node. */
  getApiHost(k: number): string
  /** API key for the nodes, which want one if they are not on this machine. */
  key?: string
}
type FleetRole = 'api' | 'worker'

const THIS_MACHINE: FleetMachines = {
  start: (_role, _k, script, env, log) => fork(script, { env, stdio: ['ignore', log, log, 'ipc'] }),
  getApiHost: () => '127.0.0.1',
}

export class Fleet {
  readonly key: string | undefined
  readonly urls: string[]
  readonly kills: Record<ProcessKind, number> = { api: 0, worker: 0, host: 0, redis: 0 }
  readonly #redis: FleetRedis
  readonly #apis: ManagedProcess[]
  readonly #workers: ManagedProcess[]
  readonly #folder: string
  readonly #seenPids = new Set<number>()

  private constructor(
    redis: FleetRedis,
    apis: ManagedProcess[],
    workers: ManagedProcess[],
    urls: string[],
    folder: string,
    key: string | undefined,
  ) {
    this.key = key
    this.#redis = redis
    this.#apis = apis
    this.#workers = workers
    this.urls = urls
    this.#folder = folder
  }

  /** On a Redis of its own unless one is given; either is stopped with the fleet. */
  static async start(givenRedis?: FleetRedis, machines: FleetMachines = THIS_MACHINE): Promise<Fleet> {
    const python = await ensurePythonEnvironment(console.error)
    const folder = mkdtempSync(join(tmpdir(), 'rgs-chaos-'))
    const [redisPort = 0, ...ports] = await findFreePortPairs(3)
    const binary = await resolveRedisBinary(console.error)
    const redis: FleetRedis = givenRedis ?? new SingleRedis(new LoopbackRedis(binary, folder, redisPort, {}))
    const log = openSync(join(folder, 'fleet.log'), 'a')
    const member = (role: FleetRole, k: number, settings: Record<string, string>) =>
      new ManagedProcess(() => {
        const env = {
          ...process.env,
          REDIS_URL: redis.url,
          DATA_DIR: folder,
          PYTHON: python,
          LOG_LEVEL: 'warn',
          PYTHON_WORKERS: '1',
          API_PROCESSES: '1',
          ...redis.settings,
          ...settings,
        }
        return machines.start(role, k, join(SOURCE_DIR, `${role}.ts`), env, log)
      })
    const key = machines.key === undefined ? {} : { API_KEYS: `admin:${machines.key}` }
    const apis = ports.map((port, k) => member('api', k, { PORT: String(port), HOST: machines.getApiHost(k), ...key }))
    const workers = [member('worker', 0, {}), member('worker', 1, {})]
    const urls = ports.map((port, k) => `http://${machines.getApiHost(k)}:${port}`)
    const fleet = new Fleet(redis, apis, workers, urls, folder, machines.key)
    await fleet.waitUntilAllReady()
    return fleet
  }

  /** Resolves when every process is up and says that it is ready. */
  async waitUntilAllReady(): Promise<void> {
    const up = () => [...this.#apis, ...this.#workers].every((member) => member.isUp)
    await this.#waitUntil(async () => up() && (await this.#countReadyNodes()) === this.urls.length)
  }

  /** Resolves when at least one API node is ready. */
  async waitUntilSomeReady(): Promise<void> {
    await this.#waitUntil(async () => (await this.#countReadyNodes()) > 0)
  }

  async #waitUntil(right: () => Promise<boolean>): Promise<void> {
    for (const until = Date.now() + START_TIMEOUT_MS; Date.now() < until; await sleep(50)) if (await right()) return
    throw new Error(`the nodes did not come back within ${START_TIMEOUT_MS / 1000} s; see ${this.#folder}/fleet.log`)
  }

  async #countReadyNodes(): Promise<number> {
    const answers = await Promise.all(
      this.urls.map((url) => fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5000) }).catch(() => undefined)),
    )
    return answers.filter((answer) => answer?.status === 200).length
  }

  /** Kills one of a kind with -9; false if none of that kind is up now. */
  async kill(kind: ProcessKind, dice: SeededRandom): Promise<boolean> {
    if (kind === 'redis') {
      if (!(this.#redis instanceof SingleRedis)) return false
      await this.#redis.crash(dice.between(0, 500))
    } else if (kind === 'host') {
      const hosts = this.#listPythonProcesses()
      if (hosts.length === 0 || !signalPid(dice.pick(hosts), 'SIGKILL')) return false
    } else {
      const up = (kind === 'api' ? this.#apis : this.#workers).filter((member) => member.isUp)
      if (up.length === 0) return false
      this.#listPythonProcesses() // remembered: they must end with it
      dice.pick(up).kill()
    }
    this.kills[kind]++
    return true
  }

  /** Stops an API node for a while, as a machine that swaps does; false if none is up now. */
  async pauseApi(dice: SeededRandom, ms: number): Promise<boolean> {
    const up = this.#apis.filter((member) => member.isUp)
    if (up.length === 0) return false
    const { pid } = dice.pick(up)
    if (!signalPid(pid, 'SIGSTOP')) return false
    await sleep(ms)
    return signalPid(pid, 'SIGCONT')
  }

  /** Stops everything; gives the processes of killed nodes that live on. Unless it went well, the log stays. */
  async stop(well: boolean): Promise<number[]> {
    this.#listPythonProcesses()
    await Promise.all([...this.#apis, ...this.#workers].map((member) => member.stop()))
    await this.#redis.stop()
    let left = [...this.#seenPids].filter(isProcessAlive)
    for (const until = Date.now() + 10_000; left.length > 0 && Date.now() < until; await sleep(100)) {
      left = left.filter(isProcessAlive)
    }
    if (well) rmSync(this.#folder, { recursive: true, force: true })
    else console.error(`the log of the fleet is in ${this.#folder}/fleet.log`)
    return left
  }

  /** What the nodes have started: the Python zygotes and their hosts. */
  #listPythonProcesses(): number[] {
    const parents = new Map(
      execFileSync('ps', ['-eo', 'pid,ppid'])
        .toString()
        .split('\n')
        .map((line) => line.trim().split(/\s+/).map(Number))
        .map(([pid = 0, ppid = 0]): [number, number] => [pid, ppid])
        .filter(([pid, ppid]) => pid > 1 && ppid > 1),
    )
    const nodes = new Set([...this.#apis, ...this.#workers].map(({ pid }) => pid))
    const belongs = (pid: number): boolean => {
      const parent = parents.get(pid)
      return parent !== undefined && (nodes.has(parent) || belongs(parent))
    }
    const hosts = [...parents.keys()].filter((pid) => belongs(pid) && !nodes.has(pid))
    for (const pid of hosts) this.#seenPids.add(pid)
    return hosts
  }
}

function signalPid(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch {
    return false // it has ended by itself
  }
}
