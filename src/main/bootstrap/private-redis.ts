/** Runs a private Redis on a socket under the data folder. Redis writes every change to disk before it replies. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { createPrivateFolder } from './private-folder.ts'
import { installRedisBinary, type ReportProgress } from './python-environment.ts'
import { createRedisSocket } from './redis-socket-path.ts'
import { StartupError } from './startup-error.ts'

const execFileAsync = promisify(execFile)

const START_TIMEOUT_MS = 60_000 // an append-only file of some gigabytes takes a while to load
/** Redis exits after a write to a full disk, which may stay full for a while. */
const RESTART_DELAY_MS = 500

export interface PrivateRedis {
  /** The path of the socket. */
  url: string
  stop(): Promise<void>
}

/** Stops a Redis that a killed server left running, starts a new one and restarts it if it exits. */
export async function startPrivateRedis(
  dataDir: string,
  report: ReportProgress,
  python?: string,
): Promise<PrivateRedis> {
  const folder = join(dataDir, 'redis')
  createPrivateFolder(folder) // the data includes model API keys and answers, which other users must not read
  const socket = createRedisSocket(folder)
  const url = socket.path
  const left = await getOrphanedRedisPid(folder, url)
  if (left !== undefined) await stopRedisByPid(url, left)
  const binary = await resolveRedisBinary(report, python)
  const settings = {
    port: '0',
    unixsocket: url,
    unixsocketperm: '700',
    dir: folder,
    pidfile: join(folder, 'redis.pid'),
    logfile: join(folder, 'redis.log'),
    appendonly: 'yes',
    appendfsync: 'always',
    'auto-aof-rewrite-min-size': '256mb', // at 64 MB, large groups would trigger a rewrite every second or two
    'maxmemory-policy': 'noeviction',
    save: '',
    daemonize: 'no',
  }
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
  let closing = false
  const start = () => {
    const child = spawn(binary, args, { stdio: 'ignore', detached: true }) // detached from Ctrl-C: the server stops it last
    child.once('exit', (code, signal) => {
      if (closing || !up) return
      report(`the private Redis exited (${signal ?? code}); restarting; ${join(folder, 'redis.log')} says why`)
      timer = setTimeout(() => {
        current = start()
      }, RESTART_DELAY_MS)
    })
    child.on('error', () => {}) // the first start reports it; later ones are retried
    return child
  }
  let up = false
  let timer: NodeJS.Timeout | undefined
  let current = start()
  process.once('exit', () => current.kill('SIGTERM')) // also if the server exits abruptly; Redis then flushes its data
  await waitUntilResponding(current, url, folder)
  up = true
  return {
    url,
    async stop() {
      closing = true
      clearTimeout(timer)
      await stopRedisChild(current, url)
      socket.remove()
    },
  }
}

/** The redis-server of this machine if it is new enough; otherwise the one installed with the library. */
export async function resolveRedisBinary(report: ReportProgress, python?: string): Promise<string> {
  return (await getRedisBinaryOnPath()) ?? installRedisBinary(report, python)
}

/** A redis-server from the PATH, if it is new enough for BullMQ. */
export async function getRedisBinaryOnPath(): Promise<string | undefined> {
  const { stdout } = await execFileAsync('redis-server', ['--version']).catch(() => ({ stdout: '' }))
  const [major = 0, minor = 0] = (/v=(\d+)\.(\d+)/.exec(stdout)?.slice(1) ?? []).map(Number)
  return major > 6 || (major === 6 && minor >= 2) ? 'redis-server' : undefined
}

async function getOrphanedRedisPid(folder: string, url: string): Promise<number | undefined> {
  const pidFile = join(folder, 'redis.pid')
  if (!existsSync(pidFile)) return undefined
  const pid = Number(readFileSync(pidFile, 'utf8'))
  return Number.isInteger(pid) && (await isResponding(url)) ? pid : undefined
}

async function isResponding(url: string): Promise<boolean> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return (await redis.ping()) === 'PONG'
  } catch {
    return false
  } finally {
    redis.disconnect()
  }
}

async function waitUntilResponding(child: ChildProcess, url: string, folder: string): Promise<void> {
  let failure: string | undefined
  child.once('error', (error) => {
    failure = error.message
  })
  child.once('exit', (code) => {
    failure = `it exited with ${code}; ${join(folder, 'redis.log')} says why`
  })
  for (const until = Date.now() + START_TIMEOUT_MS; Date.now() < until && failure === undefined; await sleep(25)) {
    if (await isResponding(url)) return
  }
  throw new StartupError(
    `The private Redis does not start: ${failure ?? `no answer within ${START_TIMEOUT_MS / 1000} s`}. Or set REDIS_URL to your own Redis`,
  )
}

async function stopRedisChild(child: ChildProcess, url: string): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const { promise, resolve } = Promise.withResolvers<void>()
  child.once('exit', () => resolve())
  await shutdownRedis(url)
  await promise
}

async function stopRedisByPid(url: string, pid: number): Promise<void> {
  await shutdownRedis(url)
  for (let k = 0; k < 400 && isProcessAlive(pid); k++) await sleep(25)
}

async function shutdownRedis(url: string): Promise<void> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 })
  redis.on('error', () => {})
  await redis.connect().catch(() => {})
  await redis.shutdown('NOSAVE').catch(() => {}) // the connection closes with Redis; the append-only file is complete
  redis.disconnect()
}

export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' // the process belongs to another user
  }
}
