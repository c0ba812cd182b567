/** Real Redis servers on loopback, for tests of clusters and Sentinel: started on a folder, killed, started again. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'

const FIRST_PORT = 20_000
const CLUSTER_BUS_OFFSET = 10_000 // a cluster node's second port lies this far above its first

/** As our private one: nothing that was answered is lost. */
const DURABLE_SETTINGS = { appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction', save: '' }

export class LoopbackRedis {
  readonly port: number
  /** By which clients, replicas and Sentinels know it: the one that speaks TLS, if one does. */
  readonly publicPort: number
  /** What it has on disk. */
  readonly folder: string
  readonly client: Redis
  readonly #start: () => ChildProcess
  #child: ChildProcess

  constructor(binary: string, folder: string, port: number, settings: Record<string, string>) {
    const dir = join(folder, String(port))
    mkdirSync(dir, { recursive: true })
    const all = {
      port: String(port),
      bind: '127.0.0.1',
      'protected-mode': 'no',
      dir,
      logfile: join(dir, 'redis.log'),
      ...DURABLE_SETTINGS,
      ...settings,
    }
    const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, ...value.split(' ')])
    this.port = port
    this.publicPort = Number(settings['tls-port'] ?? port)
    this.folder = dir
    this.#start = () => {
      mkdirSync(dir, { recursive: true })
      return spawn(binary, args, { stdio: 'ignore' })
    }
    this.#child = this.#start()
    process.once('exit', () => this.#child.kill('SIGKILL'))
    this.client = connectToPort(port)
  }

  get isUp(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  async kill(): Promise<void> {
    await endProcess(this.#child, 'SIGKILL')
  }

  /** Slow without end, until it goes on. */
  pause(): void {
    this.#child.kill('SIGSTOP')
  }

  resume(): void {
    this.#child.kill('SIGCONT')
  }

  restart(): void {
    this.#child = this.#start()
  }

  async stop(): Promise<void> {
    this.client.disconnect()
    await endProcess(this.#child, 'SIGTERM')
  }
}

/** Lets no more writes in and waits until the replica has them all: a master that dies now loses nothing. */
export async function quiesceMaster(master: LoopbackRedis, replica: LoopbackRedis): Promise<void> {
  await master.client.client('PAUSE', 10_000, 'WRITE')
  await waitForReplica(master, replica)
}

/** Resolves when the replica has all that the master had when this was called. */
export async function waitForReplica(master: LoopbackRedis, replica: LoopbackRedis): Promise<void> {
  const end = Number(/master_repl_offset:(\d+)/.exec(await master.client.info('replication'))?.[1])
  for (;;) {
    const reached = Number(/slave_repl_offset:(\d+)/.exec(await replica.client.info('replication'))?.[1] ?? -1)
    if (reached >= end) return
    await sleep(10)
  }
}

export function connectToPort(port: number): Redis {
  const redis = new Redis({ port, retryStrategy: () => 50, maxRetriesPerRequest: null })
  redis.on('error', () => {}) // tried again until it is up
  return redis
}

export async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const { promise, resolve } = Promise.withResolvers<void>()
  child.once('exit', () => resolve())
  child.kill(signal)
  await promise
}

/**
 * Ports whose bus port is free too; the system by itself gives out higher ones, so these are looked for below. They are kept for
 * this process until it ends: others that look at the same time find the UDP port of the same number taken.
 */
export async function findFreePortPairs(count: number): Promise<number[]> {
  const found: number[] = []
  for (let port = FIRST_PORT; port < 32_000 && found.length < count; port++) {
    if ((await reserve(port)) && (await isPortFree(port)) && (await isPortFree(port + CLUSTER_BUS_OFFSET)))
      found.push(port)
  }
  return found
}

async function reserve(port: number): Promise<boolean> {
  const reservation = createSocket('udp4').unref()
  const { promise, resolve } = Promise.withResolvers<boolean>()
  reservation.once('error', () => {
    reservation.close()
    resolve(false)
  })
  reservation.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(true))
  return promise
}

async function isPortFree(port: number): Promise<boolean> {
  const probe = createServer()
  const { promise, resolve } = Promise.withResolvers<boolean>()
  probe.once('error', () => resolve(false))
  probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  return promise
}
