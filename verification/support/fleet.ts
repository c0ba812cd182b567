/** The real processes: API nodes, workers, one append-only Redis; each can be killed with -9 and comes back. */
import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensurePythonEnvironment } from '../../src/main/bootstrap/python/python-environment.ts'
import { resolveRedisBinary } from '../../src/main/bootstrap/redis/redis-process.ts'
import { isProcessAlive } from '../../src/platform/process-state.ts'
import { endProcess, findFreePortPairs, LoopbackRedis } from './loopback-redis.ts'
import { listDescendants } from './processes.ts'
import type { SeededRandom } from './seeded-random.ts'
import { waitUntil } from './wait.ts'

const SOURCE_DIR = join(import.meta.dirname, '..', '..', 'src', 'main')
const START_TIMEOUT_MS = 300_000 // on a busy machine
const RESTART_DELAY_MS = 200
const NODES_PER_ROLE = 2
const NODE_ENV = { LOG_LEVEL: 'warn', PYTHON_WORKERS: '1', API_PROCESSES: '1', DUMP_IDLE_FLUSH_S: '1' }

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
  /** Kills it with -9 and starts it again after a while; absent where others do that. */
  crash?: (awayMs: number) => Promise<void>
  stop(): Promise<void>
}

type FleetRole = 'api' | 'worker'

interface FleetOptions {
  /** Stopped with the fleet; if absent, the fleet has one of its own. */
  redis?: FleetRedis
  /** More environment variables of a node, such as `api0` or `worker1`. */
  getNodeEnv?: (node: string) => Record<string, string>
  /** The port under which clients reach the API node of a port. */
  exposePort?: (port: number) => number | Promise<number>
}

export class Fleet {
  readonly urls: string[] = []
  readonly kills: Record<ProcessKind, number> = { api: 0, worker: 0, host: 0, redis: 0 }
  /** What the nodes write, and their log. */
  readonly folder = mkdtempSync(join(tmpdir(), 'rgs-fleet-'))
  readonly #redis: FleetRedis
  readonly #members: Record<FleetRole, ManagedProcess[]> = { api: [], worker: [] }
  readonly #seenPids = new Set<number>()

  private constructor(redis: FleetRedis) {
    this.#redis = redis
  }

  static async start({ redis, getNodeEnv, exposePort = (port) => port }: FleetOptions = {}): Promise<Fleet> {
    const python = await ensurePythonEnvironment(console.error)
    const fleet = new Fleet(redis ?? (await startSingleRedis()))
    const log = openSync(join(fleet.folder, 'fleet.log'), 'a')
    const base = { ...process.env, ...NODE_ENV, DATA_DIR: fleet.folder, PYTHON: python }
    const ofRedis = { REDIS_URL: fleet.#redis.url, ...fleet.#redis.settings }
    const add = (role: FleetRole, k: number, settings: Record<string, string>) => {
      const env = { ...base, ...ofRedis, ...getNodeEnv?.(`${role}${k}`), ...settings }
      const start = () => fork(join(SOURCE_DIR, `${role}.ts`), { env, stdio: ['ignore', log, log, 'ipc'] })
      fleet.#members[role].push(new ManagedProcess(start))
    }
    for (const [k, port] of (await findFreePortPairs(NODES_PER_ROLE)).entries()) {
      add('api', k, { PORT: String(port) })
      add('worker', k, {})
      fleet.urls.push(`http://127.0.0.1:${await exposePort(port)}`)
    }
    await fleet.waitUntilAllReady()
    return fleet
  }

  /** Where the workers put dump files. */
  get dumps(): string {
    return join(this.folder, 'data_dumps')
  }

  get #all(): ManagedProcess[] {
    return [...this.#members.api, ...this.#members.worker]
  }

  /** Resolves when every process is up and says that it is ready. */
  waitUntilAllReady(): Promise<void> {
    const isUp = () => this.#all.every((member) => member.isUp)
    return this.#waitUntil(async () => isUp() && (await this.#countReadyNodes()) === this.urls.length)
  }

  /** Resolves when at least one API node is ready. */
  waitUntilSomeReady(): Promise<void> {
    return this.#waitUntil(async () => (await this.#countReadyNodes()) > 0)
  }

  #waitUntil(holds: () => Promise<boolean>): Promise<void> {
    return waitUntil(`the nodes are ready; see ${this.folder}/fleet.log`, holds, { timeoutMs: START_TIMEOUT_MS })
  }

  async #countReadyNodes(): Promise<number> {
    const answers = await Promise.all(
      this.urls.map((url) => fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5000) }).catch(() => undefined)),
    )
    return answers.filter((answer) => answer?.status === 200).length
  }

  /** Kills one of a kind with -9; false if none of that kind is up now. */
  async kill(kind: ProcessKind, random: SeededRandom): Promise<boolean> {
    const hosts = this.#listPythonProcesses() // those of a node must end with it
    if (kind === 'redis') {
      if (!this.#redis.crash) return false
      await this.#redis.crash(random.between(0, 500))
    } else if (kind === 'host') {
      if (hosts.length === 0 || !signalPid(random.pick(hosts), 'SIGKILL')) return false
    } else {
      const up = this.#members[kind].filter((member) => member.isUp)
      if (up.length === 0) return false
      random.pick(up).kill()
    }
    this.kills[kind]++
    return true
  }

  /** Stops an API node for a while, as a machine that swaps does; false if none is up now. */
  async pauseApi(random: SeededRandom, ms: number): Promise<boolean> {
    const up = this.#members.api.filter((member) => member.isUp)
    if (up.length === 0) return false
    const { pid } = random.pick(up)
    if (!signalPid(pid, 'SIGSTOP')) return false
    await sleep(ms)
    return signalPid(pid, 'SIGCONT')
  }

  /** Stops everything; gives the processes of killed nodes that live on. Unless it went well, the folder stays. */
  async stop(well: boolean): Promise<number[]> {
    this.#listPythonProcesses()
    await Promise.all(this.#all.map((member) => member.stop()))
    await this.#redis.stop()
    let left = [...this.#seenPids].filter(isProcessAlive)
    for (const until = Date.now() + 10_000; left.length > 0 && Date.now() < until; await sleep(100)) {
      left = left.filter(isProcessAlive)
    }
    if (well) rmSync(this.folder, { recursive: true, force: true })
    else console.error(`the log of the fleet is in ${this.folder}/fleet.log`)
    return left
  }

  /** What the nodes have started: the Python zygotes and their hosts. */
  #listPythonProcesses(): number[] {
    const nodes = this.#all.map(({ pid }) => pid).filter((pid) => pid > 0)
    const pids = listDescendants(...nodes).map(({ pid }) => pid)
    for (const pid of pids) this.#seenPids.add(pid)
    return pids
  }
}

/** One Redis, which can be killed and comes back with what it had on disk. */
export async function startSingleRedis(): Promise<FleetRedis & { port: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'rgs-fleet-redis-'))
  const [port = 0] = await findFreePortPairs(1)
  const server = new LoopbackRedis(await resolveRedisBinary(console.error), folder, port, {})
  await server.client.ping() // so that no node takes its port
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    async crash(awayMs) {
      await server.kill()
      await sleep(awayMs)
      server.restart()
    },
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
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
